"""A card with a sentence, shown where the screen must not be."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

BACKGROUND = (30, 32, 38)
WORDS = (225, 228, 235)


def load_font() -> None:
    """Load what drawing loads at first use: its files may be unreadable later."""
    ImageFont.load_default(20)


def card(text: str, width: int, height: int) -> NDArray[np.uint8]:
    """Return a picture of that size as the screen's pixels are, four bytes each."""
    picture = Image.new("RGB", (width, height), BACKGROUND)
    font = ImageFont.load_default(max(10, height // 18))
    middle = (width / 2, height / 2)
    ImageDraw.Draw(picture).text(middle, text, WORDS, font, anchor="mm", align="center")
    pixels = np.zeros((height, width, 4), np.uint8)
    pixels[:, :, :3] = np.asarray(picture)[:, :, ::-1]
    return pixels
