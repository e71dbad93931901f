"""Exponential backoff of restarts."""

from collections.abc import Sequence

REMEMBERED_SECONDS = 60.0
"""A failure older than this does not count: the instance after it was healthy."""
SHORTEST_SECONDS = 0.5
LONGEST_SECONDS = 30.0
"""Upper bound, so that a repaired machine has its display back within half a minute."""


def recent(ends: Sequence[float], now: float) -> tuple[float, ...]:
    """Return the failures that still count, in the order given."""
    return tuple(end for end in ends if end > now - REMEMBERED_SECONDS)


def pause(ends: Sequence[float], now: float) -> float:
    """Return the seconds to wait after the last of these failures.

    The first failure within a minute is followed by an immediate restart, the second by a pause
    of half a second, which doubles with each further one.
    """
    count = len(recent(ends, now))
    if count < 2:
        return 0.0
    # The inner limit only keeps the power small: 0.5 s * 2**8 is above the upper bound already.
    return float(min(SHORTEST_SECONDS * 2 ** (min(count, 10) - 2), LONGEST_SECONDS))
