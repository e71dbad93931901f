"""Scrolling in search of a target: down to the end, then up to the begin. Pure."""

from collections.abc import Sequence

SEEK_NOTCHES = 5
MOST_SEEKS = 40
ENDS = ("Nothing of the screen changed.", "Less than 1 % of the screen changed.")
"""Parts of the results of calls that scrolled nothing; a cursor may blink meanwhile."""


def seek_direction(results: Sequence[str]) -> str | None:
    """Return where to scroll next; ``None`` if both ends were seen.

    ``results`` are those of the scrolling so far.
    """
    if len(results) >= MOST_SEEKS:
        return None
    ends = sum(any(end in result for end in ENDS) for result in results)
    return {0: "down", 1: "up"}.get(ends)
