"""Where a page is on the screen, and where its elements are. Pure.

Points of members are pixels of the picture of the page: CSS pixels of its viewport, scaled down
where that is larger than the pictures that models see.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from deskhand.desktop.geometry import Point, Region, Size, convert, model_size

from .errors import BrowserCallFailed
from .members import PagePoint

Json = dict[str, Any]

_FIELDS = ("x", "y", "outer_width", "outer_height", "width", "height", "ratio", "zoom")


@dataclass(frozen=True)
class Viewport:
    """The visible part of a page, and its place on the screen."""

    left: float
    """Native pixels from the left edge of the screen."""
    top: float
    width: float
    """CSS pixels."""
    height: float
    ratio: float = 1.0
    """Native pixels of one CSS pixel."""

    @property
    def region(self) -> Region:
        """The page on the screen, in native pixels."""
        left, top = round(self.left), round(self.top)
        right = left + max(1, round(self.width * self.ratio))
        return Region(left, top, right, top + max(1, round(self.height * self.ratio)))

    @property
    def picture(self) -> Size:
        """Size of the picture of the page."""
        return model_size(Size(max(1, round(self.width)), max(1, round(self.height))))

    def on_screen(self, point: PagePoint) -> Point:
        """Return the native pixel of a point of the picture.

        Raises:
            BrowserCallFailed: If the point is outside of the picture.
        """
        width, height = self.picture
        if not (0 <= point.x < width and 0 <= point.y < height):
            text = f"({point.x}, {point.y}) is outside of the page, which is {width}x{height}."
            raise BrowserCallFailed(400, text)
        inside = convert(Point(point.x, point.y), self.picture, self.region.size)
        return Point(self.region.left + inside.x, self.region.top + inside.y)

    def of_css(self, x: float, y: float) -> Point:
        """Return the native pixel of a CSS pixel."""
        return Point(round(self.left + x * self.ratio), round(self.top + y * self.ratio))

    def region_on_screen(self, region: tuple[int, int, int, int]) -> Region:
        """Return the native pixels of a region of the picture, as far as it is inside."""
        width, height = self.picture
        left, top, right, bottom = region
        part = Region(max(0, left), max(0, top), min(width, right), min(height, bottom))
        if part.is_empty:
            text = f"the region is outside of the page, which is {width}x{height}."
            raise BrowserCallFailed(400, text)
        first = self.on_screen(PagePoint(part.left, part.top))
        last = self.on_screen(PagePoint(part.right - 1, part.bottom - 1))
        return Region(first.x, first.y, last.x + 1, last.y + 1)


def viewport_of(facts: Json) -> Viewport | None:
    """Return the viewport from what a page reports about its window; None if it is no window.

    The browser's own bars are above the page; the frame of the window is as wide below the page as
    beside it.
    """
    try:
        x, y, outer_width, outer_height, width, height, ratio, zoom = (
            float(facts[name]) for name in _FIELDS
        )
    except (KeyError, TypeError, ValueError):
        return None
    if min(width, height, ratio, zoom) <= 0:
        return None
    # Sizes of the window do not change with the zoom of the page.
    scale = ratio / zoom
    frame = max(0.0, (outer_width - width * zoom) / 2)
    above = max(0.0, outer_height - height * zoom - frame)
    return Viewport((x + frame) * scale, (y + above) * scale, width, height, ratio)


def middle(quads: Sequence[Sequence[float]], viewport: Viewport) -> tuple[float, float] | None:
    """Return the middle of the first rectangle that is visible, in CSS pixels; None if none is."""
    for quad in quads:
        xs, ys = quad[0::2], quad[1::2]
        left, right = max(0.0, min(xs)), min(viewport.width, max(xs))
        top, bottom = max(0.0, min(ys)), min(viewport.height, max(ys))
        if right - left >= 1 and bottom - top >= 1:
            return (left + right) / 2, (top + bottom) / 2
    return None
