"""The point where an action happens, converted once for plan, reply and recording."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from deskhand.desktop.geometry import Point, Size, Space, convert, model_size

from .catalog import Action, ButtonDown, ButtonUp, Click, Drag, MouseMove, Scroll


@dataclass(frozen=True)
class ActionPoint:
    """One point in the three pixel spaces that plan, reply and recording use."""

    requested: Point
    """In the space of the request, clamped to it."""
    native: Point
    model: Point


def points_of(action: Action) -> tuple[Point, ...]:
    """Return the points that an action names, in order; it ends at the last one."""
    match action:
        case MouseMove(to=point) | Click(at=point) | Scroll(at=point):
            return (point,)
        case ButtonDown(at=Point() as at) | ButtonUp(at=Point() as at):
            return (at,)
        case Drag(path=path):
            return path
        case _:
            return ()


def located(action: Action, to_native: Callable[[Point], Point]) -> Action:
    """Return the action with its points in native pixels."""
    match action:
        case MouseMove():
            return replace(action, to=to_native(action.to))
        case Click() | Scroll():
            return replace(action, at=to_native(action.at))
        case ButtonDown(at=Point() as at) | ButtonUp(at=Point() as at):
            return replace(action, at=to_native(at))
        case Drag():
            return replace(action, path=tuple(map(to_native, action.path)))
        case _:
            return action


def scaled_scroll(action: Action, from_: Size, to: Size) -> Action:
    """Return a scroll in pixels of one size as one in those of another; all else as it is."""
    if not isinstance(action, Scroll) or not action.in_pixels:
        return action
    right = round(action.right * to.width / from_.width)
    return replace(action, right=right, down=round(action.down * to.height / from_.height))


def requested_point(point: Point, space: Space, native: Size) -> ActionPoint:
    """Convert a point that a request names; a point outside lands on the nearest edge."""
    on_screen = convert(point, space.size, native)
    return ActionPoint(convert(point, space.size, space.size), on_screen, _model(on_screen, native))


def pointer_point(position: Point, space: Space, native: Size) -> ActionPoint:
    """Convert the position of the pointer, in native pixels, into the space of a request."""
    return ActionPoint(convert(position, native, space.size), position, _model(position, native))


def _model(point: Point, native: Size) -> Point:
    return convert(point, native, model_size(native))
