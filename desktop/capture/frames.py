"""What the screen showed, and what changed on it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deskhand.desktop.geometry import Point, Region


@dataclass(frozen=True)
class Frame:
    """The pixels of the screen at one moment, without the pointer.

    ``pixels`` is read-only, ``uint8``, shape ``(height, width, 4)``, byte order B, G, R, X.
    """

    pixels: NDArray[np.uint8]
    counter: int
    """Counts changes of the pixels; equal counters mean equal pixels."""
    time: float
    """When it was captured, in seconds on the monotonic clock."""
    life: str = ""
    """Tells displays apart that followed each other in one service."""
    changed_at: NDArray[np.int64] | None = None
    """The counter with which each band of rows last changed, if that is known; read-only."""


@dataclass(frozen=True)
class Pointer:
    """Where the mouse pointer is, and how it looks."""

    position: Point
    hot_spot: Point
    image: NDArray[np.uint8]
    """Shape ``(height, width, 4)``, byte order B, G, R, A, colours premultiplied."""
    serial: int
    """Changes with the image."""


@dataclass(frozen=True)
class Damage:
    """Regions that were painted, in native pixels."""

    time: float
    regions: tuple[Region, ...]
