"""Contact sheets: numbered pictures of moments of videos, with clicks drawn and captions."""

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from .clips import Video, picture

CELL = 320
"""Width of a picture on the sheet, in pixels."""
GAP = 8
CAPTION = 22
"""Height of the line below a picture."""
_BACKGROUND, _TEXT, _CLICK, _FAILED = "#f4f5f7", "#1b1f24", "#e0245e", "#b3261e"
_RADIUS = 9
# Loaded here: workers have no files from which Pillow could load it later.
_FONT = ImageFont.load_default(13)


@dataclass(frozen=True)
class Cell:
    """One picture of a sheet."""

    video: Video
    at: float
    """Seconds of the video."""
    caption: str
    point: tuple[float, float] | None = None
    """Where a click was, in pixels of the video."""
    failed: bool = False


def contact_sheet(cells: Sequence[Cell], columns: int) -> bytes:
    """Return a PNG of the cells, row by row.

    Raises:
        UnreadableVideo: If a file contains no frame.
    """
    pictures = [_picture(cell) for cell in cells]
    height = max(one.height for one in pictures)
    rows = -(-len(cells) // columns)
    across, down = CELL + GAP, height + CAPTION + GAP
    width = min(columns, len(cells)) * across + GAP
    sheet = Image.new("RGB", (width, rows * down + GAP), _BACKGROUND)
    draw = ImageDraw.Draw(sheet)
    for number, (cell, small) in enumerate(zip(cells, pictures, strict=True)):
        left, top = GAP + number % columns * across, GAP + number // columns * down
        sheet.paste(small, (left, top))
        colour = _FAILED if cell.failed else _TEXT
        frame = (left - 1, top - 1, left + CELL, top + small.height)
        draw.rectangle(frame, outline=colour, width=3 if cell.failed else 1)
        line = fitting(cell.caption, CELL)
        draw.text((left, top + height + 4), line, fill=colour, font=_FONT)
    to = BytesIO()
    sheet.save(to, "PNG")
    return to.getvalue()


def fitting(text: str, width: int) -> str:
    """Return a text in one line of ``width`` pixels, cut off where it is longer."""
    line = " ".join(text.split())
    if _FONT.getlength(line) <= width:
        return line
    while line and _FONT.getlength(f"{line}…") > width:
        line = line[:-1]
    return f"{line}…"


def _picture(cell: Cell) -> Image.Image:
    pixels = picture(cell.video, cell.at)
    height, width = pixels.shape[:2]
    flat = np.ascontiguousarray(pixels)
    whole = Image.frombuffer("RGB", (width, height), flat, "raw", "BGRX")
    small = whole.resize((CELL, max(1, height * CELL // width)), reducing_gap=2.0)
    if cell.point is not None:
        x, y = (value * CELL / width for value in cell.point)
        draw = ImageDraw.Draw(small)
        for radius, colour in ((_RADIUS + 1, "white"), (_RADIUS, _CLICK)):
            around = (x - radius, y - radius, x + radius, y + radius)
            draw.ellipse(around, outline=colour, width=2)
    return small
