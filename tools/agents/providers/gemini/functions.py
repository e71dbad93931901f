"""Gemini's predefined functions for a computer, and the actions of ours that they are. Pure.

A function is one or several members of the computer toolset, which are run in order: ``navigate``
opens the address bar and types into it. The functions are those of Gemini 3.5 and later, and, for
older models, those of the previews of 2.5 and 3 (``OLD_FUNCTIONS``). If an argument is unknown,
missing or wrong, none of the members is run: one call stands for them, with which the tool reports
what is wrong.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, TypeGuard

from deskhand.desktop.errors import BadField
from deskhand.desktop.fields import Field, Fields, Json, anything
from deskhand.tools.kit.support.computer_calls import REFUSED, desktop_call, distance_of

from .grid import to_grid, to_pixel

Size = tuple[int, int]
"""Width and height of the picture that the model has seen, in pixels."""

INTENT = "intent"
SAFETY = "safety_decision"
MEANT_FOR_US = frozenset({INTENT, SAFETY})
"""Arguments of every function that are about the call, and not for the computer."""

LONGEST_WAIT = 100
USUAL_MAGNITUDE = 400
OLD_MAGNITUDE = 800
OLD_WAIT = 5
HOME = "https://www.google.com"


@dataclass(frozen=True)
class MemberCall:
    """A member of the computer toolset with its input, in pixels."""

    member: str
    arguments: Json = field(default_factory=dict)


@dataclass(frozen=True)
class FunctionCall:
    """A predefined function with its arguments, on the grid."""

    name: str
    arguments: Json = field(default_factory=dict)


def members_of(name: str, arguments: Mapping[str, Any], size: Size) -> tuple[MemberCall, ...]:
    """Return the members that a function is; none if it is not predefined."""
    function = FUNCTIONS.get(name) or OLD_FUNCTIONS.get(name)
    if function is None:
        return ()
    own = {key: value for key, value in arguments.items() if key not in MEANT_FOR_US}
    try:
        members = function.members(_Arguments(function.fields.read(own), size))
        for one in members:
            desktop_call(one.member, one.arguments)
    except BadField as error:
        return (MemberCall(REFUSED, {"problem": f"{name}: {error.sentence}"}),)
    return members


def function_of(member: str, arguments: Mapping[str, Any], size: Size) -> FunctionCall:
    """Return the function for a member, for a history in which another model has called it.

    A member that no function stands for becomes ``take_screenshot``.
    """
    if member in CLICKS:
        return FunctionCall(CLICKS[member], _grid_point(arguments.get("coordinate"), size))
    point = _grid_point(arguments.get("coordinate"), size)
    text = str(arguments.get("text", ""))
    match member:
        case "left_click_drag":
            start = _grid_point(arguments.get("start_coordinate"), size)
            end = {f"destination_{axis}": value for axis, value in point.items()}
            return FunctionCall("drag_and_drop", {**start, **end})
        case "scroll":
            return FunctionCall("scroll", {**point, **_turn(arguments, size)})
        case "type":
            return FunctionCall("type", {"text": text})
        case "key":
            times = int(arguments.get("repeat", 1))
            if "+" in text[1:] and times == 1:
                return FunctionCall("hotkey", {"keys": text.split("+")})
            return FunctionCall("press_key", {"key": " ".join([text] * times)})
        case "key_down" | "key_up":
            return FunctionCall(member, {"key": text})
        case "wait":
            return FunctionCall("wait", {"seconds": arguments.get("duration", 1)})
    return FunctionCall("take_screenshot")


class _Arguments:
    """The arguments of one call, in the form of the toolset."""

    def __init__(self, given: Mapping[str, Any], size: Size) -> None:
        self._given = given
        self._size = size

    def get(self, name: str, otherwise: Any) -> Any:
        value = self._given.get(name)
        return otherwise if value is None else value

    def point(self, x: str = "x", y: str = "y", key: str = "coordinate") -> Json:
        """Return ``{key: [x, y]}`` in pixels; nothing if the call has no point."""
        values = [self._given.get(x), self._given.get(y)]
        if values == [None, None]:
            return {}
        sides = zip(values, self._size, strict=True)
        return {key: [to_pixel(v, side) if _is_number(v) else v for v, side in sides]}

    def middle(self) -> Json:
        return {"coordinate": [self._size[0] // 2, self._size[1] // 2]}

    def turn(self, usual: int) -> Json:
        direction = self._given["direction"]
        magnitude = self.get("magnitude", usual)
        way = _WAYS.get(direction) if isinstance(direction, str) else None
        if way is None or not _is_number(magnitude):
            return {"scroll_direction": direction, "scroll_amount": magnitude}
        field, sign = way
        pixels = to_pixel(magnitude, self._size[0 if field == "scroll_x" else 1])
        return {field: sign * max(pixels, 1)}

    def chord(self, name: str) -> str:
        """Return keys that are pressed together; models send a list, or a text with ``+``."""
        keys = self._given.get(name)
        return "+".join(map(str, keys)) if isinstance(keys, list) else keys or ""

    def typed(self, *, press_enter: bool) -> MemberCall:
        text = self._given["text"]
        end = "\n" if self.get("press_enter", press_enter) else ""
        return MemberCall("type", {"text": text + end if isinstance(text, str) else text})


_WAYS = {
    "left": ("scroll_x", -1),
    "right": ("scroll_x", 1),
    "up": ("scroll_y", -1),
    "down": ("scroll_y", 1),
}
Reader = Callable[[_Arguments], tuple[MemberCall, ...]]
_ANY = Field({}, anything)


@dataclass(frozen=True)
class _Function:
    members: Reader
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()

    @property
    def fields(self) -> Fields:
        # The computer tool checks the values.
        return Fields(dict.fromkeys((*self.needs, *self.takes), _ANY), self.needs)


def _pointed(member: str) -> Reader:
    return lambda given: (MemberCall(member, given.point()),)


def _drag(given: _Arguments) -> tuple[MemberCall, ...]:
    ends = given.point(key="start_coordinate") | given.point("destination_x", "destination_y")
    return (MemberCall("left_click_drag", ends),)


def _wait(given: _Arguments) -> tuple[MemberCall, ...]:
    seconds = given.get("seconds", 1)
    longest = min(seconds, LONGEST_WAIT) if _is_number(seconds) else seconds
    return (MemberCall("wait", {"duration": longest}),)


def _key(member: str, name: str = "key") -> Reader:
    return lambda given: (MemberCall(member, {"text": given.chord(name)}),)


def _pressed(chord: str) -> Reader:
    return lambda _: (MemberCall("key", {"text": chord}),)


def _opened(address: object) -> tuple[MemberCall, ...]:
    text = f"{address}\n" if isinstance(address, str) else address
    return (MemberCall("key", {"text": "ctrl+l"}), MemberCall("type", {"text": text}))


def _type_at(given: _Arguments) -> tuple[MemberCall, ...]:
    clearing: tuple[MemberCall, ...] = ()
    if given.get("clear_before_typing", True):
        clearing = (MemberCall("key", {"text": "ctrl+a"}), MemberCall("key", {"text": "Delete"}))
    return (MemberCall("left_click", given.point()), *clearing, given.typed(press_enter=True))


def _taken(_: _Arguments) -> tuple[MemberCall, ...]:
    return (MemberCall("screenshot"),)


CLICKS = {
    "left_click": "click",
    "double_click": "double_click",
    "triple_click": "triple_click",
    "middle_click": "middle_click",
    "right_click": "right_click",
    "mouse_move": "move",
    "left_mouse_down": "mouse_down",
    "left_mouse_up": "mouse_up",
}
"""Member of the toolset to the function that takes at most a point."""

_AT = ("x", "y")
_TURN = ("magnitude",)

FUNCTIONS: Mapping[str, _Function] = {
    **{
        CLICKS[member]: _Function(_pointed(member), _AT)
        for member in CLICKS
        if not member.startswith("left_m")
    },
    # Without a point, the button goes down, or up, where the pointer is.
    "mouse_down": _Function(_pointed("left_mouse_down"), (), _AT),
    "mouse_up": _Function(_pointed("left_mouse_up"), (), _AT),
    "type": _Function(lambda given: (given.typed(press_enter=False),), ("text",), ("press_enter",)),
    "drag_and_drop": _Function(_drag, (*_AT, "destination_x", "destination_y")),
    "wait": _Function(_wait, (), ("seconds",)),
    "press_key": _Function(_key("key"), ("key",)),
    "key_down": _Function(_key("key_down"), ("key",)),
    "key_up": _Function(_key("key_up"), ("key",)),
    "hotkey": _Function(_key("key", "keys"), ("keys",)),
    "take_screenshot": _Function(_taken),
    "scroll": _Function(
        lambda given: (MemberCall("scroll", given.point() | given.turn(USUAL_MAGNITUDE)),),
        ("direction",),
        (*_AT, *_TURN),
    ),
    "go_back": _Function(_pressed("alt+Left")),
    "go_forward": _Function(_pressed("alt+Right")),
    "navigate": _Function(lambda given: _opened(given.get("url", "")), ("url",)),
}
"""Functions of Gemini 3.5 and later."""

OLD_FUNCTIONS: Mapping[str, _Function] = {
    "open_web_browser": _Function(_taken),
    "click_at": _Function(_pointed("left_click"), _AT),
    "hover_at": _Function(_pointed("mouse_move"), _AT),
    "type_text_at": _Function(_type_at, (*_AT, "text"), ("press_enter", "clear_before_typing")),
    "scroll_document": _Function(
        lambda given: (MemberCall("scroll", given.middle() | given.turn(OLD_MAGNITUDE)),),
        ("direction",),
        _TURN,
    ),
    "scroll_at": _Function(
        lambda given: (MemberCall("scroll", given.point() | given.turn(OLD_MAGNITUDE)),),
        (*_AT, "direction"),
        _TURN,
    ),
    "wait_5_seconds": _Function(lambda _: (MemberCall("wait", {"duration": OLD_WAIT}),)),
    "search": _Function(lambda _: _opened(HOME)),
    "key_combination": _Function(_key("key", "keys"), ("keys",)),
}
"""Functions of the previews of 2.5 and 3 that later models do not have."""


def _grid_point(value: object, size: Size) -> Json:
    if not isinstance(value, list) or len(value) != 2 or not all(map(_is_number, value)):
        return {}
    return {"x": to_grid(int(value[0]), size[0]), "y": to_grid(int(value[1]), size[1])}


def _turn(arguments: Mapping[str, Any], size: Size) -> Json:
    direction, pixels = distance_of(arguments)
    side = size[0 if direction in ("left", "right") else 1]
    return {"direction": direction, "magnitude": to_grid(pixels, side)}


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
