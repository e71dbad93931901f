"""Conversion of OpenAI's computer actions to the calls that our computer tool performs. Pure.

One ``computer_call`` has several actions and one answer. Each action becomes one call, with an id
made from the id of the item: ``call_1-0``, ``call_1-1``.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from deskhand.desktop.errors import BadField
from deskhand.desktop.fields import Field, Fields, Json, anything, whole_number
from deskhand.tools.conversation.conversation import SafetyCheck, ToolCall
from deskhand.tools.kit.support.computer_calls import REFUSED

COMPUTER = "computer"
WAIT_SECONDS = 1
"""Duration of ``wait``, which names none."""
CLICKS = {
    "left": "left_click",
    "right": "right_click",
    "wheel": "middle_click",
    "back": "back_click",
    "forward": "forward_click",
}


def calls_of(item: Mapping[str, Any]) -> tuple[ToolCall, ...]:
    """Return the calls for an item of the type ``computer_call``.

    All of them carry its pending safety checks.
    """
    checks = tuple(
        SafetyCheck(str(one["id"]), str(one.get("code") or ""), str(one.get("message") or ""))
        for one in item.get("pending_safety_checks") or ()
    )
    # Older models perform one action at a time, in a field of its own.
    actions = item.get("actions") or [item.get("action") or {"type": "screenshot"}]
    named = [call for action in actions for call in _calls(action)]
    return tuple(
        ToolCall(f"{item['call_id']}-{index}", name, arguments, COMPUTER, checks)
        for index, (name, arguments) in enumerate(named)
    )


def _calls(action: Json) -> Iterator[tuple[str, Json]]:
    kind = str(action.get("type", ""))
    if kind not in _FIELDS:
        # The computer tool answers that there is no such action.
        yield kind, {}
        return
    try:
        given = _FIELDS[kind].read({key: one for key, one in action.items() if key != "type"})
    except BadField as error:
        yield REFUSED, {"problem": f"{kind}: {error.sentence}"}
        return
    yield _CONVERSIONS[kind](given)


def _click(action: Json) -> tuple[str, Json]:
    button = action["button"]
    return CLICKS.get(button, f"{button}_click"), _at(action)


def _drag(action: Json) -> tuple[str, Json]:
    path = [_point(one) for one in action["path"]]
    if len(path) == 2:
        ends = {"start_coordinate": path[0], "coordinate": path[1]}
        return "left_click_drag", {**ends, **_held(action)}
    return "drag_path", {"path": path, **_held(action)}


def _scroll(action: Json) -> tuple[str, Json]:
    distance = {name: action[name] for name in ("scroll_x", "scroll_y")}
    return "scroll", {**distance, **_at(action)}


def _at(action: Json) -> Json:
    return {"coordinate": _point(action), **_held(action)}


def _point(value: Mapping[str, Any]) -> list[Any]:
    return [value.get("x"), value.get("y")]


def _held(action: Json) -> Json:
    keys = action.get("keys")
    return {"text": chord(keys)} if keys else {}


def chord(keys: Sequence[object]) -> str:
    """Return keys that are pressed together as one text."""
    return "+".join(map(str, keys))


# The computer tool checks the values.
_ANY = Field({}, anything)
_DISTANCE = Field({"type": "integer"}, whole_number, 0)


def _fields(*needed: str, **optional: Field) -> Fields:
    return Fields({**dict.fromkeys(needed, _ANY), **optional}, needed)


_FIELDS: Mapping[str, Fields] = {
    "click": _fields("button", "x", "y", keys=_ANY),
    "double_click": _fields("x", "y", keys=_ANY),
    "drag": _fields("path", keys=_ANY),
    "keypress": _fields("keys"),
    "move": _fields("x", "y", keys=_ANY),
    "screenshot": _fields(),
    "scroll": _fields("x", "y", scroll_x=_DISTANCE, scroll_y=_DISTANCE, keys=_ANY),
    "type": _fields("text"),
    "wait": _fields(),
}
"""Fields of each action beside its type."""

_CONVERSIONS: Mapping[str, Callable[[Json], tuple[str, Json]]] = {
    "click": _click,
    "double_click": lambda action: ("double_click", _at(action)),
    "drag": _drag,
    "keypress": lambda action: ("key", {"text": chord(action["keys"])}),
    # The pointer moves without an effect of held keys.
    "move": lambda action: ("mouse_move", {"coordinate": _point(action)}),
    "screenshot": lambda _: ("screenshot", {}),
    "scroll": _scroll,
    "type": lambda action: ("type", {"text": action["text"]}),
    "wait": lambda _: ("wait", {"duration": WAIT_SECONDS}),
}
