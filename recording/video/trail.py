"""Trails: many clicks on one frame of a video, numbered and joined by a line."""

from collections.abc import Sequence
from io import BytesIO

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from .clips import Video, picture

_CLICK, _FAILED, _LINE = "#e0245e", "#b3261e", "#5b6ee1"
_RADIUS = 11
_DIMMED = 0.35
"""Share of white in the picture, so that the marks stand out on each background."""
# Loaded here: workers have no files from which Pillow could load it later.
_FONT = ImageFont.load_default(12)


def trail(video: Video, at: float, points: Sequence[tuple[float, float, str, bool]]) -> bytes:
    """Return a PNG of the frame at ``at`` seconds with the clicks drawn, in pixels of the video.

    Each click has a number, and True where its step failed.

    Raises:
        UnreadableVideo: If the file contains no frame.
    """
    pixels = picture(video, at)
    height, width = pixels.shape[:2]
    flat = np.ascontiguousarray(pixels)
    shown = Image.frombuffer("RGB", (width, height), flat, "raw", "BGRX")
    shown = Image.blend(shown, Image.new("RGB", shown.size, "white"), _DIMMED)
    draw = ImageDraw.Draw(shown)
    if len(points) > 1:
        draw.line([(x, y) for x, y, *_ in points], fill=_LINE, width=2)
    for x, y, number, failed in points:
        _mark(draw, (x, y), number, _FAILED if failed else _CLICK)
    to = BytesIO()
    shown.save(to, "PNG")
    return to.getvalue()


def _mark(draw: ImageDraw.ImageDraw, centre: tuple[float, float], number: str, colour: str) -> None:
    x, y = centre
    half = max(_RADIUS, _FONT.getlength(number) / 2 + 4)
    around = (x - half, y - _RADIUS, x + half, y + _RADIUS)
    draw.rounded_rectangle(around, _RADIUS, fill=colour, outline="white", width=2)
    draw.text((x, y), number, fill="white", font=_FONT, anchor="mm")
