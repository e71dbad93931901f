"""Thumbnails of frames as JPEG, made with Pillow."""

from io import BytesIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from deskhand.recording.timing.thumbnail_choice import fitted

Thumbnail = Image.Image
"""A downscaled frame, not yet encoded."""

QUALITY = 82
"""On Pillow's scale from 1 to 95; text on a thumbnail is still readable."""


def downscaled(pixels: NDArray[np.uint8]) -> Thumbnail:
    """Return a copy of a frame (B, G, R and one ignored byte) at thumbnail size."""
    height, width = pixels.shape[:2]
    size = fitted(width, height)
    # Pillow reorders the bytes while it copies; numpy takes ten times as long for that.
    flat = np.ascontiguousarray(pixels)
    whole = Image.frombuffer("RGB", (width, height), flat, "raw", "BGRX")
    # reduce() averages whole blocks and costs a third of a resize over all pixels.
    factor = width // size[0]
    return whole.reduce(factor).resize(size) if factor > 1 else whole.resize(size)


def jpeg(picture: Thumbnail) -> bytes:
    """Encode a thumbnail as a JPEG file."""
    out = BytesIO()
    picture.save(out, "JPEG", quality=QUALITY)
    return out.getvalue()
