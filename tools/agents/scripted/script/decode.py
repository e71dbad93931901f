"""Decoding of the pictures in a request."""

import io
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from PIL import Image

RgbDecoder = Callable[[bytes], tuple[int, int, bytes]]
"""Returns width, height and the RGB bytes of a picture."""


def pixels(data: bytes, decode: RgbDecoder) -> NDArray[np.uint8]:
    """Return the picture as an array of shape (height, width, 3), RGB."""
    width, height, flat = decode(data)
    return np.frombuffer(flat, np.uint8).reshape(height, width, 3)


def decoded_here(data: bytes) -> tuple[int, int, bytes]:
    """Decode a picture in this process; for servers whose pictures are no agent's."""
    with Image.open(io.BytesIO(data)) as picture:
        # Palette pictures would yield indexes, and transparent ones a fourth channel.
        return *picture.size, picture.convert("RGB").tobytes()
