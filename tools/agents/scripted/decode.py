"""Decoding of the pictures in a request, with Pillow."""

import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from .protocol import Measured

MEDIA_TYPES = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "GIF": "image/gif",
    "WEBP": "image/webp",
}


def measure(data: bytes) -> Measured | None:
    """Return type and size of a picture from its bytes; ``None`` for an unknown format."""
    try:
        # ``Image.open`` decodes the header only; few steps of a script need the pixels.
        with Image.open(io.BytesIO(data)) as picture:
            media_type = MEDIA_TYPES.get(picture.format or "")
            width, height = picture.size
    except (UnidentifiedImageError, OSError, ValueError):
        return None
    return Measured(media_type, width, height) if media_type else None


def pixels(data: bytes) -> NDArray[np.uint8]:
    """Return the picture as an array of shape (height, width, 3), RGB."""
    with Image.open(io.BytesIO(data)) as picture:
        # Palette pictures would yield indexes, and transparent ones a fourth channel.
        return np.asarray(picture.convert("RGB"), dtype=np.uint8)
