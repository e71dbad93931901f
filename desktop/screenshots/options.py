"""Options of a screenshot: format, size and region."""

from dataclasses import dataclass
from typing import Literal

from deskhand.desktop.geometry import Region, Size, Space, convert_region

PictureFormat = Literal["png", "jpeg", "webp"]


@dataclass(frozen=True)
class PictureOptions:
    """Encoding of a screenshot."""

    format: PictureFormat = "png"
    quality: int = 85
    """Quality of JPEG and WebP, 1 to 100."""
    cursor: bool = True
    """True to draw the mouse pointer."""
    since: str | None = None
    """Id of a frame that the caller has; if the screen still shows it, no picture is encoded."""


@dataclass(frozen=True)
class View:
    """Region of the screen and size of the picture of it."""

    size: Size
    region: Region | None
    """Region in native pixels; None is the whole screen."""
    options: PictureOptions


def view(options: PictureOptions, space: Space, native: Size, region: Region | None = None) -> View:
    """Return the view of a region given in the pixels of ``space``."""
    if region is None:
        return View(space.picture, None, options)
    part = convert_region(region, space.size, native)
    # A size that the caller named is used as it is; otherwise the region keeps its aspect ratio.
    size = space.picture if space.name == "scaled" else fitted(part.size, space.picture)
    return View(size, part, options)


def fitted(content: Size, box: Size) -> Size:
    """Return the largest size with the content's aspect ratio that fits into the box."""
    # Integer arithmetic rounds to the nearest pixel; floats could miss the box by one.
    if content.width * box.height >= content.height * box.width:
        height = (2 * content.height * box.width + content.width) // (2 * content.width)
        return Size(box.width, max(1, height))
    width = (2 * content.width * box.height + content.height) // (2 * content.height)
    return Size(max(1, width), box.height)
