"""What applications say of their widgets, made compact, and the names by which to click them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from deskhand.desktop.errors import InvalidAction
from deskhand.desktop.geometry import Point, Region, Size, SpaceName, convert, space, whole

Json = dict[str, Any]

# Containers that say nothing by themselves.
_PLAIN = {"", "panel", "filler", "section", "unknown", "redundant object", "notification"} | {
    *("static", "paragraph", "grouping", "internal frame", "scroll pane", "landmark", "separator"),
}
# Bits of the state set, as in atspi-constants.h.
_STATES = {4: "checked", 7: "editable", 10: "expanded", 12: "focused", 20: "pressed"} | {
    16: "modal",
    23: "selected",
}
_SENSITIVE = 24
_LONGEST_NAME = 300


@dataclass(frozen=True)
class Node:
    """One widget."""

    role: str
    name: str
    rectangle: Region
    """On the screen, in native pixels; empty where there is none."""
    states: int = 0
    """A bit for each state."""
    children: tuple["Node", ...] = ()


@dataclass(frozen=True)
class Tree:
    """A compact tree, and where the widgets in it are."""

    roots: tuple[Json, ...]
    places: Mapping[str, Region]
    """Rectangles by ref."""


def compact(applications: Iterable[Node], screen: Size) -> Tree:
    """Leave out what cannot be seen and what says nothing, and name the rest."""
    places: dict[str, Region] = {}
    visible = whole(screen)

    def told(node: Node, top: bool) -> list[Json]:
        seen = node.rectangle.intersection(visible)
        if seen.is_empty and not top:
            return []
        entry: Json = {}
        if not _says_nothing(node):
            entry = _entry(node, seen, places)
        inner = [one for child in node.children for one in told(child, False)]
        if not entry:
            return inner
        return [entry | ({"children": inner} if inner else {})]

    roots = tuple(one for node in applications for one in told(node, True))
    return Tree(roots, places)


def pointed(body: Json, places: Mapping[str, Region], native: Size) -> Json:
    """Put points in the place of refs, in a body of one action or of several.

    Raises:
        InvalidAction: If a ref is not known, or stands beside a point.
    """
    if isinstance(body.get("actions"), list):
        outer = {key: body[key] for key in _SPACE if key in body}
        members = [
            _pointed(item, outer, places, native) if isinstance(item, dict) else item
            for item in body["actions"]
        ]
        return {**body, "actions": members}
    return _pointed(body, {}, places, native)


_NAMES: Mapping[str, SpaceName] = {"native": "native", "normalized_1000": "normalized_1000"}
_SPACE = ("coordinate_space", "scaled_width", "scaled_height")


def _pointed(item: Json, outer: Json, places: Mapping[str, Region], native: Size) -> Json:
    ref = item.get("ref")
    if ref is None:
        return item
    if item.get("coordinate") is not None:
        raise InvalidAction('Give "ref" or "coordinate", not both.')
    place = places.get(ref) if isinstance(ref, str) else None
    if place is None:
        raise InvalidAction(f"Unknown ref: {ref}", "Read the accessibility tree again.")
    middle = Point((place.left + place.right) // 2, (place.top + place.bottom) // 2)
    own = item if any(item.get(key) is not None for key in _SPACE) else outer
    rest = {key: value for key, value in item.items() if key != "ref"}
    return {**rest, "coordinate": list(convert(middle, native, _size(own, native)))}


def _size(asked: Json, native: Size) -> Size:
    width, height = asked.get("scaled_width"), asked.get("scaled_height")
    if isinstance(width, int) and isinstance(height, int) and min(width, height) > 0:
        return Size(width, height)
    # A wrong name is refused by whoever reads the body next.
    name = _NAMES.get(str(asked.get("coordinate_space")), "model")
    return space(name, native).size


def _says_nothing(node: Node) -> bool:
    return not node.name.strip() and (node.role in _PLAIN or not node.children)


def _entry(node: Node, seen: Region, places: dict[str, Region]) -> Json:
    entry: Json = {"role": node.role}
    if node.name.strip():
        entry["name"] = node.name.strip()[:_LONGEST_NAME]
    if not seen.is_empty:
        entry["ref"] = f"e{len(places) + 1}"
        entry["rectangle"] = list(seen)
        places[entry["ref"]] = seen
    states = [word for bit, word in _STATES.items() if node.states >> bit & 1]
    if node.states and not node.states >> _SENSITIVE & 1:
        states.append("disabled")
    return entry | ({"states": states} if states else {})
