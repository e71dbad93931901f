"""Ports that a display implements for the recorder: a source of frames and its feeds."""

from math import inf
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Rectangle = tuple[int, int, int, int]
"""Left, top, right, bottom in pixels; right and bottom are exclusive."""

MOST_PLACES = 64
"""Regions above this number are replaced by "anywhere": converting the whole frame is cheaper than
tracking them."""


class Overlay(NamedTuple):
    """Pixels that cover a region of a frame: the mouse pointer, blended with its background."""

    region: Rectangle
    pixels: NDArray[np.uint8]


class CapturedFrame(NamedTuple):
    """Content of the screen at one moment.

    ``pixels``: ``uint8``, shape ``(height, width, 4)``, bytes B, G, R and one ignored. The source
    must not change them afterwards, because the recorder may keep them for a while.
    """

    pixels: NDArray[np.uint8]
    time: float
    """Seconds on the monotonic clock."""
    regions: tuple[Rectangle, ...]
    """Damage since the previous frame; empty when only the pointer moved."""
    changed: tuple[Rectangle, ...] | None = None
    """Regions that may differ from the previous frame, including the old and new region of the
    pointer; None if they are unknown."""
    overlay: Overlay | None = None
    """Pixels above the frame; drawing the pointer into the frame would require a copy of it."""
    placeholder: bool = False
    """True if it stands in for a screen that must not be recorded; never becomes a thumbnail."""


class DamageReport(NamedTuple):
    """Regions that were painted, and the time at which the display reported them."""

    time: float
    """Seconds on the monotonic clock."""
    regions: tuple[Rectangle, ...]


class RecentDamage(NamedTuple):
    """Damage of a screen since the last query, whether or not a frame was captured after it."""

    reports: tuple[DamageReport, ...] = ()
    """Reports in order of time, without regions whose pixels were captured and are the same."""
    unchecked_since: float = inf
    """Time of the oldest report that is held back, because its pixels were not captured yet."""


def joined(
    earlier: tuple[Rectangle, ...] | None, later: tuple[Rectangle, ...] | None
) -> tuple[Rectangle, ...] | None:
    """Combine the changed regions of two successive frames; None means anywhere."""
    # None is absorbing: a region that was unknown once stays unknown until the frame is converted.
    if earlier is None or later is None:
        return None
    # A dict keeps the order and drops duplicates: the pointer's region is often in both.
    both = tuple(dict.fromkeys((*earlier, *later)))
    return both if len(both) <= MOST_PLACES else None


class Feed(Protocol):
    """Stream of frames for one consumer."""

    def next_frame(self, timeout: float) -> CapturedFrame | None:
        """Wait until the screen differs from the previous frame; return None after ``timeout``.

        The first call returns the current frame at once.

        Raises:
            FeedEnded: If the display is gone.
        """

    def damage(self, unchecked_before: float) -> RecentDamage:
        """Return the damage since the last call; does not wait, from any thread.

        Reports that were not compared with the pixels are held back until they are captured, but
        not if they are older than ``unchecked_before``.
        """

    def close(self) -> None:
        """End the feed; a ``next_frame`` that waits in another thread may return None."""


class Source(Protocol):
    """Screen that can be recorded."""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""

    def subscribe(self) -> Feed:
        """Open a new feed."""
