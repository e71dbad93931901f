"""Conversion between the canonical calls of scripts and OpenAI's computer actions. Pure.

Consecutive computer calls of a reply become one ``computer_call``. The id of its first call is the
id of the item; the others get ids made from it when the item comes back.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Json = dict[str, Any]

PIXELS_A_NOTCH = 80
BUTTONS = {"left_click": "left", "right_click": "right", "middle_click": "wheel"}
DIRECTIONS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
FIELDS: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "click": (frozenset({"button", "x", "y"}), frozenset({"keys"})),
    "double_click": (frozenset({"x", "y"}), frozenset({"keys"})),
    "drag": (frozenset({"path"}), frozenset({"keys"})),
    "keypress": (frozenset({"keys"}), frozenset()),
    "move": (frozenset({"x", "y"}), frozenset({"keys"})),
    "screenshot": (frozenset(), frozenset()),
    "scroll": (frozenset({"x", "y", "scroll_x", "scroll_y"}), frozenset({"keys"})),
    "type": (frozenset({"text"}), frozenset()),
    "wait": (frozenset(), frozenset()),
}
"""Fields that an action must have, and those that it may have."""


def actions_of(calls: Sequence[Json]) -> list[Json]:
    """Return the actions for consecutive computer calls of a reply."""
    return [action for call in calls for action in _actions(call["name"], call["input"])]


def _actions(name: str, given: Json) -> list[Json]:
    if name in BUTTONS:
        return [{"type": "click", "button": BUTTONS[name], **_at(given)}]
    if name == "triple_click":
        # The protocol has none: three clicks at one place are the same to an application.
        return [{"type": "click", "button": "left", **_at(given)}] * 3
    if name == "key":
        return [{"type": "keypress", "keys": given["text"].split("+")}] * given.get("repeat", 1)
    convert = _CONVERSIONS.get(name)
    # A member without a counterpart shows the screen.
    return [{"type": "screenshot"} if convert is None else convert(given)]


def _scroll(given: Json) -> Json:
    across, down = DIRECTIONS[given["scroll_direction"]]
    distance = PIXELS_A_NOTCH * given["scroll_amount"]
    turn = {"scroll_x": across * distance, "scroll_y": down * distance}
    return {"type": "scroll", **turn, **_at(given)}


def _drag(given: Json) -> Json:
    path = [_point(given["start_coordinate"]), _point(given["coordinate"])]
    return {"type": "drag", "path": path, **_held(given)}


def _at(given: Json) -> Json:
    # The protocol has no action without a place: the corner stands for the pointer's own.
    return {**_point(given.get("coordinate", [0, 0])), **_held(given)}


def _point(coordinate: Sequence[int]) -> Json:
    return {"x": coordinate[0], "y": coordinate[1]}


def _held(given: Json) -> Json:
    return {"keys": given["text"].split("+")} if "text" in given else {}


_CONVERSIONS: Mapping[str, Callable[[Json], Json]] = {
    "double_click": lambda given: {"type": "double_click", **_at(given)},
    "left_click_drag": _drag,
    "mouse_move": lambda given: {"type": "move", **_point(given["coordinate"])},
    "scroll": _scroll,
    "type": lambda given: {"type": "type", "text": given["text"]},
    "wait": lambda _: {"type": "wait"},
}
