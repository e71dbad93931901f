"""Where pictures come from: the ports that a display implements for the recorder."""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Rectangle = tuple[int, int, int, int]
"""Left, top, right, bottom in pixels; right and bottom do not belong to it."""


MOST_PLACES = 64
"""So many changed places are not worth telling apart."""


class Overlay(NamedTuple):
    """What is seen in place of some pixels: the pointer, with what shines through it."""

    region: Rectangle
    pixels: NDArray[np.uint8]


class CapturedFrame(NamedTuple):
    """What the screen showed at one moment.

    ``pixels``: ``uint8``, shape ``(height, width, 4)``, bytes B, G, R and one ignored. Nobody
    changes them afterwards: the recorder may keep them for a while.
    """

    pixels: NDArray[np.uint8]
    time: float
    """Seconds on the monotonic clock."""
    regions: tuple[Rectangle, ...]
    """What was painted since the shot before; empty when only the pointer moved."""
    changed: tuple[Rectangle, ...] | None = None
    """Where the pixels may differ from the shot before, the pointer's places among them; None
    where nobody knows."""
    overlay: Overlay | None = None
    """What lies over the pixels; so nobody has to copy all of them to draw the pointer."""


def joined(
    earlier: tuple[Rectangle, ...] | None, later: tuple[Rectangle, ...] | None
) -> tuple[Rectangle, ...] | None:
    """Where a shot may differ from the one before the one before."""
    if earlier is None or later is None:
        return None
    both = tuple(dict.fromkeys((*earlier, *later)))
    return both if len(both) <= MOST_PLACES else None


class Feed(Protocol):
    """A stream of shots for one taker."""

    def next_frame(self, timeout: float) -> CapturedFrame | None:
        """Block until the picture differs from the last one taken; None after ``timeout``.

        The first call returns the current picture at once.

        Raises:
            FeedEnded: If the display is gone.
        """

    def close(self) -> None:
        """End the feed; a ``next_frame`` that blocks in another thread may return None."""


class Source(Protocol):
    """A screen that can be recorded."""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""

    def subscribe(self) -> Feed:
        """Open a feed of its own."""
