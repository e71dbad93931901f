"""How a picture of the screen is wanted."""

from dataclasses import dataclass
from typing import Literal

from deskhand.desktop.geometry import Region, Size, Space, convert_region

PictureFormat = Literal["png", "jpeg", "webp"]


@dataclass(frozen=True)
class PictureOptions:
    """What a picture's file is like."""

    format: PictureFormat = "png"
    quality: int = 85
    """Of JPEG and WebP, 1 to 100."""
    cursor: bool = True
    """Whether the mouse pointer is drawn."""
    since: str | None = None
    """Frame that the caller has already; if the screen still shows it, no picture is made."""


@dataclass(frozen=True)
class View:
    """A picture that can be made: what of the screen, and how large."""

    size: Size
    region: Region | None
    """In native pixels; the whole screen if none."""
    options: PictureOptions


def view(options: PictureOptions, space: Space, native: Size, region: Region | None = None) -> View:
    """Return the view of a region given in the pixels of ``space``."""
    if region is None:
        return View(space.picture, None, options)
    part = convert_region(region, space.size, native)
    # Who names a size gets that size; all others see the region undistorted.
    size = space.picture if space.name == "scaled" else fitted(part.size, space.picture)
    return View(size, part, options)


def fitted(content: Size, box: Size) -> Size:
    """The largest size of the content's shape that fits into the box."""
    if content.width * box.height >= content.height * box.width:
        height = (2 * content.height * box.width + content.width) // (2 * content.width)
        return Size(box.width, max(1, height))
    width = (2 * content.width * box.height + content.height) // (2 * content.height)
    return Size(max(1, width), box.height)
