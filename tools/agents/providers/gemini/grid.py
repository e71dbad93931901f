"""Conversion between Gemini's grid of 1000 x 1000 and the pixels of a picture. Pure.

Gemini gives points as whole numbers from 0 to 999, whatever the size of the picture is: the pixel
is the value, divided by 1000, of the side, rounded down
(https://ai.google.dev/gemini-api/docs/computer-use).
"""

GRID = 1000
LAST = GRID - 1


def to_pixel(value: float, side: int) -> int:
    """Return the pixel of a value on the grid; ``side`` is the picture's width or height."""
    return int(value * side // GRID)


def to_grid(pixel: int, side: int) -> int:
    """Return the value for a pixel: :func:`to_pixel` gives that pixel, or one near it.

    On a side of more than 1000 pixels not every pixel has a value of its own.
    """
    # Rounded up, because ``to_pixel`` rounds down.
    return min(-(-pixel * GRID // side), LAST)
