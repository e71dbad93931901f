"""Identity of a widget: role, name and nearby texts, by which it is found on another screen. Pure.

The hit test takes the smallest widget at a point that takes input. A large widget without input,
such as a page or a drawing area, is no target: where in it the point lies says more than its name.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from deskhand.desktop.geometry import Point, Region

from .nearness import near_texts
from .widgets import ActiveWindow, ShownWidget, uncovered

Json = dict[str, Any]

_LARGEST = 40_000
"""Pixels of a widget without input that can be a target, such as a cell of a table."""
_NAMED_BY_WHAT_IS_IN_IT = frozenset(["scroll bar", "table row", "list", "table", "tree"])
_LONGEST_NAME = 120


@dataclass(frozen=True)
class WidgetIdentity:
    """What a widget is for a reader of the screen."""

    role: str
    name: str
    near: tuple[str, ...]
    region: Region
    """Its visible part, in native pixels."""
    password: bool = False
    """True if it hides what is typed into it."""
    typed: bool = False
    """True if its content is typed, so that its pixels differ from run to run."""

    def to_json(self) -> Json:
        """Return the identity in the form of the HTTP API."""
        return {
            "role": self.role,
            "name": self.name,
            "near": list(self.near),
            "rectangle": list(self.region),
        }


def identity_at(
    widgets: Iterable[ShownWidget], point: Point, active: ActiveWindow | None
) -> WidgetIdentity | None:
    """Return the identity of the widget at a point; None if none can be named."""
    every = tuple(widgets)
    # If the window at the point shows no widgets, those that are known there are below it.
    if (
        active is not None
        and active.region is not None
        and active.region.holds(point)
        and active.among(every) is None
    ):
        return None
    known = uncovered(every, active)
    hit = [one for one in known if one.region.holds(point) and _is_target(one)]
    if not hit:
        return None
    return _identity(min(hit, key=lambda one: (not one.takes_input, _area(one))), known)


def identity_with_focus(
    widgets: Iterable[ShownWidget], active: ActiveWindow | None
) -> WidgetIdentity | None:
    """Return the identity of the widget with the keyboard; None if no single one has it."""
    every = tuple(widgets)
    if active is not None and active.among(every) is None:
        return None
    known = uncovered(every, active)
    focused = [one for one in known if "focused" in one.states and one.takes_input]
    # A combo box and the field in it both have the focus: the inner one receives the keys.
    inner = [one for one in focused if not any(other.is_inside(one) for other in focused)]
    return _identity(inner[0], known) if len(inner) == 1 else None


def _identity(widget: ShownWidget, known: Sequence[ShownWidget]) -> WidgetIdentity | None:
    rivals = [
        one for one in known if one != widget and (one.role, one.name) == (widget.role, widget.name)
    ]
    near = near_texts(widget, rivals, known)
    if not near and (rivals or not widget.name):
        return None
    return WidgetIdentity(
        widget.role,
        widget.name,
        near,
        widget.region,
        password=widget.role == "password text",
        typed=widget.holds_text,
    )


def _is_target(widget: ShownWidget) -> bool:
    if widget.role in _NAMED_BY_WHAT_IS_IN_IT:
        return False
    if len(widget.name) > _LONGEST_NAME:
        return False
    return widget.takes_input or (bool(widget.name) and _area(widget) <= _LARGEST)


def _area(widget: ShownWidget) -> int:
    width, height = widget.region.size
    return width * height
