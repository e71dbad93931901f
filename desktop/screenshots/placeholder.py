"""Placeholder frame: a text in place of the screen while the screen is private."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

BACKGROUND = (30, 32, 38)
TEXT_COLOR = (225, 228, 235)


def load_font() -> None:
    """Load the font, which Pillow otherwise loads at first use.

    The process may have lost the right to read the font file by then.
    """
    ImageFont.load_default(20)


def placeholder_frame(text: str, width: int, height: int) -> NDArray[np.uint8]:
    """Return a frame of that size with ``text`` in the middle, four bytes a pixel."""
    picture = Image.new("RGB", (width, height), BACKGROUND)
    font = ImageFont.load_default(max(10, height // 18))
    middle = (width / 2, height / 2)
    ImageDraw.Draw(picture).text(middle, text, TEXT_COLOR, font, anchor="mm", align="center")
    pixels = np.zeros((height, width, 4), np.uint8)
    pixels[:, :, :3] = np.asarray(picture)[:, :, ::-1]
    return pixels
