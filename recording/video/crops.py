"""Crops of moments of videos around a point, as small JPEG files."""

from collections.abc import Sequence
from io import BytesIO
from typing import NamedTuple

import numpy as np
from PIL import Image

from .clips import Video, picture

WIDTH, HEIGHT = 320, 180
QUALITY = 60


class Crop(NamedTuple):
    """A moment of a file, and the pixel of the video in the middle of the crop."""

    video: Video
    at: float
    """Seconds of the video."""
    point: tuple[float, float] | None = None
    """Without one the whole picture is shown, smaller."""


def crops(wanted: Sequence[Crop]) -> list[bytes]:
    """Return a JPEG of each crop.

    Raises:
        UnreadableVideo: If a file contains no frame.
    """
    return [_crop(one) for one in wanted]


def _crop(one: Crop) -> bytes:
    pixels = picture(one.video, one.at)
    height, width = pixels.shape[:2]
    flat = np.ascontiguousarray(pixels)
    whole = Image.frombuffer("RGB", (width, height), flat, "raw", "BGRX")
    if one.point is None:
        small = whole.resize((WIDTH, max(1, height * WIDTH // width)), reducing_gap=2.0)
    else:
        # Twice the size of the crop shows enough around the point to recognize the place.
        left = min(max(0, round(one.point[0]) - WIDTH), max(0, width - 2 * WIDTH))
        top = min(max(0, round(one.point[1]) - HEIGHT), max(0, height - 2 * HEIGHT))
        part = (left, top, min(width, left + 2 * WIDTH), min(height, top + 2 * HEIGHT))
        small = whole.crop(part).resize(((part[2] - left) // 2 or 1, (part[3] - top) // 2 or 1))
    to = BytesIO()
    small.save(to, "JPEG", quality=QUALITY)
    return to.getvalue()
