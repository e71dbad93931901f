"""Small JPEG pictures of frames, drawn with Pillow."""

from io import BytesIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from deskhand.recording.timing.thumbnail_choice import fitted

Thumbnail = Image.Image
"""A small picture, not yet a file."""

QUALITY = 82


def downscaled(pixels: NDArray[np.uint8]) -> Thumbnail:
    """A copy of a frame (B, G, R and one ignored byte) at thumbnail size."""
    height, width = pixels.shape[:2]
    size = fitted(width, height)
    # Pillow reorders the bytes while it copies; numpy would take ten times as long for that.
    flat = np.ascontiguousarray(pixels)
    whole = Image.frombuffer("RGB", (width, height), flat, "raw", "BGRX")
    # reduce() averages whole blocks and costs a third of a resize over all pixels.
    factor = width // size[0]
    return whole.reduce(factor).resize(size) if factor > 1 else whole.resize(size)


def jpeg(picture: Thumbnail) -> bytes:
    """A JPEG file."""
    out = BytesIO()
    picture.save(out, "JPEG", quality=QUALITY)
    return out.getvalue()
