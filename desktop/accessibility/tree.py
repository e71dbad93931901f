"""Compact form of the widget tree, with the refs that name widgets in actions."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from deskhand.desktop.errors import InvalidAction
from deskhand.desktop.geometry import Point, Region, Size, SpaceName, convert, space, whole

Json = dict[str, Any]

# Roles of containers, which carry no information without a name.
_PLAIN = {"", "panel", "filler", "section", "unknown", "redundant object", "notification"} | {
    *("static", "paragraph", "grouping", "internal frame", "scroll pane", "landmark", "separator"),
}
# Bits of the state set, as in atspi-constants.h.
_STATES = {4: "checked", 7: "editable", 10: "expanded", 12: "focused", 20: "pressed"} | {
    16: "modal",
    23: "selected",
}
_SENSITIVE = 24
# Some documents put their whole text into a name.
LONGEST_NAME = 300
"""Characters of a name or a role that are kept."""


@dataclass(frozen=True)
class Node:
    """One widget."""

    role: str
    name: str
    rectangle: Region
    """On the screen, in native pixels; empty where there is none."""
    states: int = 0
    """Bit set of AtspiStateType."""
    children: tuple["Node", ...] = ()


@dataclass(frozen=True)
class Tree:
    """A compact tree and the rectangles of its widgets."""

    roots: tuple[Json, ...]
    rectangles: Mapping[str, Region]
    """Rectangles by ref."""


def compact(applications: Iterable[Node], screen: Size) -> Tree:
    """Drop invisible widgets and bare containers, and give every other widget a ref."""
    rectangles: dict[str, Region] = {}
    visible = whole(screen)

    def visible_entries(node: Node, top: bool) -> list[Json]:
        clipped = node.rectangle.intersection(visible)
        if clipped.is_empty and not top:
            return []
        entry: Json = {}
        if not _is_container(node):
            entry = _entry(node, clipped, rectangles)
        inner = [one for child in node.children for one in visible_entries(child, False)]
        if not entry:
            return inner
        return [entry | ({"children": inner} if inner else {})]

    roots = tuple(one for node in applications for one in visible_entries(node, True))
    return Tree(roots, rectangles)


def names(entries: Iterable[Json]) -> Iterator[str]:
    """Yield the names of the widgets of a compact tree, each widget before its content."""
    for entry in entries:
        if "name" in entry:
            yield entry["name"]
        yield from names(entry.get("children", ()))


def pointed(body: Json, rectangles: Mapping[str, Region], native: Size) -> Json:
    """Replace refs by points, in a body of one action or of several.

    Raises:
        InvalidAction: If a ref is unknown, or given together with a point.
    """
    if isinstance(body.get("actions"), list):
        outer = {key: body[key] for key in _SPACE if key in body}
        members = [
            _pointed(item, outer, rectangles, native) if isinstance(item, dict) else item
            for item in body["actions"]
        ]
        return {**body, "actions": members}
    return _pointed(body, {}, rectangles, native)


_NAMES: Mapping[str, SpaceName] = {"native": "native", "normalized_1000": "normalized_1000"}
_SPACE = ("coordinate_space", "scaled_width", "scaled_height")


def _pointed(item: Json, outer: Json, rectangles: Mapping[str, Region], native: Size) -> Json:
    ref = item.get("ref")
    if ref is None:
        return item
    if item.get("coordinate") is not None:
        raise InvalidAction('Give "ref" or "coordinate", not both.')
    rectangle = rectangles.get(ref) if isinstance(ref, str) else None
    if rectangle is None:
        raise InvalidAction(f"Unknown ref: {ref}", "Read the accessibility tree again.")
    # The rectangle is clipped to the screen, so its middle can be clicked.
    middle = Point((rectangle.left + rectangle.right) // 2, (rectangle.top + rectangle.bottom) // 2)
    own = item if any(item.get(key) is not None for key in _SPACE) else outer
    rest = {key: value for key, value in item.items() if key != "ref"}
    return {**rest, "coordinate": list(convert(middle, native, _size(own, native)))}


def _size(asked: Json, native: Size) -> Size:
    width, height = asked.get("scaled_width"), asked.get("scaled_height")
    if isinstance(width, int) and isinstance(height, int) and min(width, height) > 0:
        return Size(width, height)
    # `actions.requests` refuses a wrong name when it parses the body after this.
    name = _NAMES.get(str(asked.get("coordinate_space")), "model")
    return space(name, native).size


def _is_container(node: Node) -> bool:
    return not node.name.strip() and (node.role in _PLAIN or not node.children)


def _entry(node: Node, clipped: Region, rectangles: dict[str, Region]) -> Json:
    entry: Json = {"role": node.role}
    if node.name.strip():
        entry["name"] = node.name.strip()[:LONGEST_NAME]
    if not clipped.is_empty:
        entry["ref"] = f"e{len(rectangles) + 1}"
        entry["rectangle"] = list(clipped)
        rectangles[entry["ref"]] = clipped
    states = [state for bit, state in _STATES.items() if node.states >> bit & 1]
    # An object that reports no states at all does not count as disabled.
    if node.states and not node.states >> _SENSITIVE & 1:
        states.append("disabled")
    return entry | ({"states": states} if states else {})
