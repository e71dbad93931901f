"""The wallpaper: a gradient from the top of the screen to its bottom."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Colour(NamedTuple):
    """Parts of red, green and blue, of 255."""

    red: int
    green: int
    blue: int


_WALLPAPER = (Colour(0x3D, 0x6A, 0x86), Colour(0x27, 0x44, 0x5D), Colour(0x16, 0x22, 0x2F))


def wallpaper(height: int) -> bytes:
    """Return the column of the wallpaper."""
    return column(_WALLPAPER, height)


def column(colours: Sequence[Colour], height: int) -> bytes:
    """Return a column of pixels in which colours at equal distances pass into each other.

    A pixel is blue, green, red and a byte without meaning, as in an X image of depth 24.
    """
    rows = np.linspace(0, len(colours) - 1, height)
    pixels = np.zeros((height, 4), np.uint8)
    for place, values in enumerate(zip(*colours, strict=True)):
        pixels[:, 2 - place] = np.rint(np.interp(rows, range(len(colours)), values))
    return pixels.tobytes()
