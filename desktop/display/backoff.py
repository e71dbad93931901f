"""How long to wait before something that ended by itself is started again."""

from collections.abc import Sequence

REMEMBERED_SECONDS = 60.0
SHORTEST_SECONDS = 0.5
LONGEST_SECONDS = 30.0


def recent(ends: Sequence[float], now: float) -> tuple[float, ...]:
    """Return the moments that still count, in the order given."""
    return tuple(end for end in ends if end > now - REMEMBERED_SECONDS)


def pause(ends: Sequence[float], now: float) -> float:
    """Return how many seconds to wait after the last of these ends.

    Nothing after the first within a minute; then half a second, doubled each time.
    """
    count = len(recent(ends, now))
    if count < 2:
        return 0.0
    return float(min(SHORTEST_SECONDS * 2 ** (min(count, 10) - 2), LONGEST_SECONDS))
