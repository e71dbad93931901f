"""The size in which a caller sees a screen, and the requests that follow from it.

Hosts pass pictures of at most 1280x720 on undamaged. Points are pixels of that picture. It is the
picture for models wherever that fits, so that regions get all the detail that there is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deskhand.desktop.geometry import (
    Point,
    Region,
    Size,
    convert,
    convert_region,
    model_size,
    whole,
)
from deskhand.desktop.screenshots.options import fitted

Json = dict[str, Any]

LARGEST = Size(1280, 720)


@dataclass(frozen=True)
class ScreenView:
    """How one caller sees a screen."""

    size: Size
    """Size of the pictures, in whose pixels points are given."""
    model: Size
    """Size of the pictures for models, which is larger on some screens."""

    @property
    def space(self) -> Json:
        """The fields of a request that name this space."""
        if self.size == self.model:
            return {}
        return {"scaled_width": self.size.width, "scaled_height": self.size.height}

    def region(self, wanted: Region | None) -> Json:
        """Return the fields of a request for a region's picture, none for the whole screen."""
        if wanted is None:
            return self.space
        part = convert_region(wanted, self.size, self.model)
        shown = fitted(part.size, self.model)
        if shown.height > LARGEST.height:
            # The service makes pictures as large as the model's; a wider part is shown less tall.
            width = -(-part.size.height * self.model.width // LARGEST.height)
            if width > self.model.width:
                return self.space
            left = min(max(0, (part.left + part.right - width) // 2), self.model.width - width)
            part = Region(left, part.top, left + width, part.bottom)
        return {"region": list(part)}

    def point(self, native: Sequence[int], screen: Size) -> list[int]:
        """Return a pixel of a screen as a pixel of its picture."""
        return list(convert(Point(native[0], native[1]), screen, self.size))


def view_of(status: Mapping[str, Any]) -> ScreenView:
    """Return the view of the screen that a desktop's status describes."""
    native = Size(int(status["size"]["width"]), int(status["size"]["height"]))
    model = model_size(native)
    fits = model.width <= LARGEST.width and model.height <= LARGEST.height
    return ScreenView(model if fits else fitted(model, LARGEST), model)


def middle(rectangle: Sequence[int]) -> tuple[int, int]:
    """Return the point in the middle of a rectangle."""
    part = Region(*rectangle).intersection(whole(Size(1 << 16, 1 << 16)))
    return (part.left + part.right) // 2, (part.top + part.bottom) // 2
