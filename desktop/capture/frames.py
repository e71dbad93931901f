"""Values of the capture: frame, pointer and damage."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deskhand.desktop.geometry import Point, Region


@dataclass(frozen=True)
class Frame:
    """Pixels of the screen at one moment, without the pointer.

    ``pixels`` is read-only, ``uint8``, shape ``(height, width, 4)``, byte order B, G, R, X.
    """

    pixels: NDArray[np.uint8]
    counter: int
    """Number of changes so far; frames of one instance with equal counters have equal pixels."""
    time: float
    """Time of capture in monotonic seconds."""
    instance: str = ""
    """Name of the display instance; a service that restarts its X server has several."""
    changed_at: NDArray[np.int64] | None = None
    """Counter at the last change of each band of rows, if known; read-only."""


@dataclass(frozen=True)
class Pointer:
    """Position and image of the mouse pointer."""

    position: Point
    hot_spot: Point
    image: NDArray[np.uint8]
    """Shape ``(height, width, 4)``, byte order B, G, R, A, colours premultiplied by alpha."""
    serial: int
    """Serial number of the image (XFIXES ``GetCursorImage``); a new image has a new one."""


@dataclass(frozen=True)
class Damage:
    """Damaged (painted) regions in native pixels, and the time at which they were reported."""

    time: float
    regions: tuple[Region, ...]
