"""The wallpaper: a gradient from the top of the screen to its bottom."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple


class Colour(NamedTuple):
    """Parts of red, green and blue, of 255."""

    red: int
    green: int
    blue: int


_WALLPAPER = (Colour(0x3D, 0x6A, 0x86), Colour(0x27, 0x44, 0x5D), Colour(0x16, 0x22, 0x2F))


@cache
def wallpaper(height: int) -> bytes:
    """Return the column of the wallpaper."""
    return column(_WALLPAPER, height)


def column(colours: Sequence[Colour], height: int) -> bytes:
    """Return a column of pixels in which colours at equal distances pass into each other.

    A pixel is blue, green, red and a byte without meaning, as in an X image of depth 24.
    """
    last = len(colours) - 1
    pixels = bytearray()
    for row in range(height):
        place = row * last / max(1, height - 1)
        above = min(int(place), last - 1)
        red, green, blue = (
            round(one + (other - one) * (place - above))
            for one, other in zip(colours[above], colours[above + 1], strict=True)
        )
        pixels += bytes((blue, green, red, 0))
    return bytes(pixels)
