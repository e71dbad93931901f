"""The point where an action happens, converted once for plan, reply and recording."""

from dataclasses import dataclass

from deskhand.desktop.geometry import Point, Size, Space, convert, model_size


@dataclass(frozen=True)
class ActionPoint:
    """One point in the three pixel spaces that plan, reply and recording use."""

    requested: Point
    """In the space of the request, clamped to it."""
    native: Point
    model: Point


def requested_point(point: Point, space: Space, native: Size) -> ActionPoint:
    """Convert a point that a request names; a point outside lands on the nearest edge."""
    on_screen = convert(point, space.size, native)
    return ActionPoint(convert(point, space.size, space.size), on_screen, _model(on_screen, native))


def pointer_point(position: Point, space: Space, native: Size) -> ActionPoint:
    """Convert the position of the pointer, in native pixels, into the space of a request."""
    return ActionPoint(convert(position, native, space.size), position, _model(position, native))


def _model(point: Point, native: Size) -> Point:
    return convert(point, native, model_size(native))
