"""Points and rectangles on the screen, and on the smaller picture a model sees."""

import math
from functools import lru_cache
from typing import Literal, NamedTuple

LONGEST_EDGE = 1568
MOST_PIXELS = 1_150_000
# Both from Anthropic's vision documentation: larger images are scaled down before the model sees
# them, and its coordinates would then be those of a size that nothing here knows.

SpaceName = Literal["model", "native", "normalized_1000", "scaled"]


class Point(NamedTuple):
    """A pixel; ``x`` grows to the right, ``y`` grows down, from 0."""

    x: int
    y: int


class Size(NamedTuple):
    """Extent in pixels, at least 1 each way."""

    width: int
    height: int


class Region(NamedTuple):
    """A rectangle, half open: ``right`` and ``bottom`` are the first pixels outside."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def size(self) -> Size:
        """Width and height; zero or less where the rectangle is empty."""
        return Size(self.right - self.left, self.bottom - self.top)

    @property
    def is_empty(self) -> bool:
        """True if no pixel lies inside."""
        return self.left >= self.right or self.top >= self.bottom

    def intersection(self, other: "Region") -> "Region":
        """Return the common part, which may be empty."""
        return Region(
            max(self.left, other.left),
            max(self.top, other.top),
            min(self.right, other.right),
            min(self.bottom, other.bottom),
        )

    def holds(self, point: Point) -> bool:
        """Return True if the pixel at ``point`` lies inside."""
        return self.left <= point.x < self.right and self.top <= point.y < self.bottom

    def covers(self, other: "Region") -> bool:
        """Return True if ``other`` lies inside completely."""
        return (
            self.left <= other.left
            and self.top <= other.top
            and self.right >= other.right
            and self.bottom >= other.bottom
        )


class Space(NamedTuple):
    """The pixels in which a request gives its points."""

    name: SpaceName
    size: Size
    picture: Size
    """Size of the pictures that go with it; differs for ``normalized_1000``, which is a grid
    over a picture of any size."""


@lru_cache(16)
def model_size(native: Size) -> Size:
    """Return the size of the picture that a model gets of a screen of size ``native``."""
    width, height = max(native.width, 1), max(native.height, 1)
    if _fits(width, height):
        return Size(width, height)
    if width >= height:
        # A landscape picture always fits at a width of 1024.
        wide = width >= 1280 and _fits(1280, 1280 * height // width)
        scaled_width = 1280 if wide else 1024
        return Size(scaled_width, max(1, scaled_width * height // width))
    scale = min(LONGEST_EDGE / max(width, height), math.sqrt(MOST_PIXELS / (width * height)))
    # Rounding down keeps the picture within both limits.
    return Size(max(1, int(width * scale)), max(1, int(height * scale)))


def space(name: SpaceName, native: Size, scaled: Size | None = None) -> Space:
    """Return the space of that name on a screen; ``scaled`` only for the name ``scaled``."""
    model = model_size(native)
    match name:
        case "native":
            return Space(name, native, native)
        case "normalized_1000":
            return Space(name, Size(1000, 1000), model)
        case "scaled" if scaled is not None:
            return Space(name, scaled, scaled)
        case "scaled":
            raise ValueError("a scaled space needs its size")
        case _:
            return Space(name, model, model)


def convert(point: Point, from_: Size, to: Size) -> Point:
    """Map a pixel of one size to the nearest pixel of another.

    A point outside ``from_`` lands on the nearest edge of ``to``. A size that is not known, of
    zero or less, is taken for the same as the other one.
    """
    return Point(
        _convert(point.x, from_.width, to.width),
        _convert(point.y, from_.height, to.height),
    )


def convert_region(region: Region, from_: Size, to: Size) -> Region:
    """Map a rectangle: put in order, clamped, and at least one pixel each way."""
    left, right = sorted((region.left, region.right))
    top, bottom = sorted((region.top, region.bottom))
    start = convert(Point(left, top), from_, to)
    # The last pixel inside is mapped, not the first one outside, so that a rectangle never
    # takes in a pixel that its corner pixels do not show.
    last = convert(Point(right - 1, bottom - 1), from_, to)
    return Region(start.x, start.y, max(last.x, start.x) + 1, max(last.y, start.y) + 1)


def contains(size: Size, point: Point) -> bool:
    """Return True if the point is a pixel of a picture of that size."""
    return 0 <= point.x < size.width and 0 <= point.y < size.height


def whole(size: Size) -> Region:
    """The rectangle of all pixels."""
    return Region(0, 0, size.width, size.height)


def _fits(width: int, height: int) -> bool:
    return max(width, height) <= LONGEST_EDGE and width * height <= MOST_PIXELS


def _convert(c: int, from_: int, to: int) -> int:
    if from_ == to or from_ <= 0:
        return max(min(c, to - 1), 0)
    # Pixel centres: floor(v + 0.5) of v = (c + 0.5) * to / from_ - 0.5, in whole numbers, which
    # no coordinate is too large for. round() would take halves to the even side, and from 1920
    # to 1280 that is another pixel in every third column.
    return max(min((2 * c + 1) * to // (2 * from_), to - 1), 0)
