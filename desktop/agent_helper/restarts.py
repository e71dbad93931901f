"""Pauses between restarts of the helper. Times are seconds on one clock."""

from collections.abc import Sequence

REMEMBERED_SECONDS = 60.0
FREE_RESTARTS = 3
"""Ends within a minute that are followed by an immediate restart."""
SHORTEST_SECONDS = 0.1
LONGEST_SECONDS = 5.0


def pause(ends: Sequence[float], now: float) -> float:
    """Return the time to wait before the next start, after these ends of helpers."""
    recent = sum(end > now - REMEMBERED_SECONDS for end in ends)
    if recent <= FREE_RESTARTS:
        return 0.0
    return float(min(SHORTEST_SECONDS * 2 ** (recent - FREE_RESTARTS - 1), LONGEST_SECONDS))
