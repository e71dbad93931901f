"""Translation of a call of the computer toolset into a request of the desktop service.

The members and their inputs are those of Anthropic's ``computer_toolset_20260801``, and some that
only other providers have; the request is that of ``POST /api/v0/desktop/action``. ``MEMBERS`` has
one row for each member: the fields that it needs and takes, and the function that builds the
request. Values are checked here, before anything is sent, so that the error message uses the
model's names of the fields.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeGuard

Json = dict[str, Any]

QUIET_MS = 100
SETTLE_MS = 3000
LONGEST_SECONDS = 100
MOST_REPEATS = 100
MOST_NOTCHES = 100
DIRECTIONS = ("up", "down", "left", "right")


class BadCall(Exception):
    """The input is not valid for the member; the text is for the model."""


@dataclass(frozen=True)
class DesktopCall:
    """The request for a call, and how to present its response to the model."""

    payload: Json
    text: str
    """Sentence about the action, for the model."""
    kind: Literal["action", "picture", "position"] = "action"
    needs_pointer: bool = False
    """True if the service needs a ``coordinate`` and the model gave none: the position of the
    pointer must be sent."""
    seconds: float = 0.0
    """Duration of the action itself."""

    def without_picture(self) -> "DesktopCall":
        """Return the same request for an action whose effect is described in words only."""
        if self.kind != "action":
            return self
        observe = {**self.payload["observe"], "screenshot": False}
        return replace(self, payload={**self.payload, "observe": observe})

    def without_settling(self) -> "DesktopCall":
        """Return the same request for an action whose effect is not waited for."""
        if self.kind != "action":
            return self
        observe = {**self.payload["observe"], "settle": False}
        return replace(self, payload={**self.payload, "observe": observe})


@dataclass(frozen=True)
class _Member:
    build: Callable[[Json], DesktopCall]
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()


def desktop_call(member: str, arguments: Mapping[str, Any]) -> DesktopCall:
    """Return the request for a call of ``member``.

    Raises:
        BadCall: If there is no such member, or its input is wrong.
    """
    row = MEMBERS.get(member)
    if row is None:
        raise BadCall(f"There is no computer action {member!r}; there are {', '.join(MEMBERS)}.")
    # Models may send ``null`` for a field that they leave out.
    given = {key: value for key, value in arguments.items() if value is not None}
    for key in given:
        if key not in (*row.needs, *row.takes):
            raise BadCall(f"{member} takes no {key!r}.")
    for key in row.needs:
        if key not in given:
            raise BadCall(f"{member} needs {key!r}.")
    return row.build({key: _FIELDS[key](key, value) for key, value in given.items()})


def _text(key: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise BadCall(f"{key} must be a text, not empty.")
    return value


def _numbers(count: int, shape: str) -> Callable[[str, object], list[int]]:
    def read(key: str, value: object) -> list[int]:
        if not isinstance(value, list) or len(value) != count or not all(map(_is_number, value)):
            raise BadCall(f"{key} must be {shape}, in pixels of the screenshot.")
        # Models may send fractions of a pixel.
        return [int(number) for number in value]

    return read


def _path(key: str, value: object) -> list[list[int]]:
    if not isinstance(value, list) or len(value) < 2:
        raise BadCall(f"{key} must be two points or more, each [x, y].")
    return [_numbers(2, "points, each [x, y]")(key, point) for point in value]


def _between(least: int, most: int) -> Callable[[str, object], float]:
    def read(key: str, value: object) -> float:
        if not _is_number(value) or not least <= value <= most:
            raise BadCall(f"{key} must be a number from {least} to {most}.")
        return value

    return read


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _direction(key: str, value: object) -> str:
    if value not in DIRECTIONS:
        raise BadCall(f"{key} must be one of {', '.join(DIRECTIONS)}.")
    return str(value)


_FIELDS: Mapping[str, Callable[[str, object], Any]] = {
    "text": _text,
    "coordinate": _numbers(2, "[x, y]"),
    "start_coordinate": _numbers(2, "[x, y]"),
    "path": _path,
    "region": _numbers(4, "[x0, y0, x1, y1]"),
    "duration": _between(0, LONGEST_SECONDS),
    "repeat": _between(1, MOST_REPEATS),
    "scroll_amount": _between(0, MOST_NOTCHES),
    "scroll_direction": _direction,
}


def _observed(action: str, fields: Json) -> Json:
    settle = {"quiet_ms": QUIET_MS, "max_ms": SETTLE_MS}
    return {"action": action, **fields, "observe": {"screenshot": True, "settle": settle}}


def _simple(action: str, text: str) -> Callable[[Json], DesktopCall]:
    return lambda given: DesktopCall(_observed(action, given), text)


def _pointed(action: str, text: str) -> Callable[[Json], DesktopCall]:
    return lambda given: DesktopCall(
        _observed(action, given), text, needs_pointer="coordinate" not in given
    )


def _key(given: Json) -> DesktopCall:
    times = int(given.get("repeat", 1))
    # The service presses chords that are separated by blanks one after the other.
    chords = " ".join([given["text"]] * times)
    text = f"Pressed {given['text']}" + (f" {times} times." if times > 1 else ".")
    return DesktopCall(_observed("key", {"text": chords}), text)


def _hold(given: Json) -> DesktopCall:
    text = f"Held {given['text']} for {given['duration']:g} s."
    return DesktopCall(_observed("hold_key", given), text, seconds=given["duration"])


def _key_down(given: Json) -> DesktopCall:
    return DesktopCall(_observed("key_down", given), f"{given['text']} is down.")


def _key_up(given: Json) -> DesktopCall:
    return DesktopCall(_observed("key_up", given), f"{given['text']} is up.")


def _wait(given: Json) -> DesktopCall:
    text = f"Waited {given['duration']:g} s."
    return DesktopCall(_observed("wait", given), text, seconds=given["duration"])


def _scroll(given: Json) -> DesktopCall:
    given = {**given, "scroll_amount": int(given["scroll_amount"])}
    return _pointed("scroll", f"Scrolled {given['scroll_direction']}.")(given)


def _picture(action: str) -> Callable[[Json], DesktopCall]:
    return lambda given: DesktopCall({"action": action, **given}, "", kind="picture")


# In a click, ``text`` names the modifier keys to hold.
_AT = ("coordinate",)
_CLICK = ("coordinate", "text")

MEMBERS: Mapping[str, _Member] = {
    "screenshot": _Member(_picture("screenshot")),
    "zoom": _Member(_picture("zoom"), needs=("region",)),
    "left_click": _Member(_pointed("left_click", "Clicked."), takes=_CLICK),
    "right_click": _Member(_pointed("right_click", "Clicked with the right button."), takes=_CLICK),
    "middle_click": _Member(
        _pointed("middle_click", "Clicked with the middle button."), takes=_CLICK
    ),
    "double_click": _Member(_pointed("double_click", "Clicked twice."), takes=_CLICK),
    "triple_click": _Member(_pointed("triple_click", "Clicked three times."), takes=_CLICK),
    "mouse_move": _Member(_simple("mouse_move", "Moved the pointer."), needs=_AT),
    "left_mouse_down": _Member(_simple("left_mouse_down", "The left button is down.")),
    "left_mouse_up": _Member(_simple("left_mouse_up", "The left button is up.")),
    "left_click_drag": _Member(
        _simple("left_click_drag", "Dragged."),
        needs=("start_coordinate", "coordinate"),
        takes=("text",),
    ),
    "drag_path": _Member(_simple("left_click_drag", "Dragged."), needs=("path",), takes=("text",)),
    "back_click": _Member(_pointed("back_click", "Clicked with the back button."), takes=_CLICK),
    "forward_click": _Member(
        _pointed("forward_click", "Clicked with the forward button."), takes=_CLICK
    ),
    "scroll": _Member(_scroll, needs=("scroll_direction", "scroll_amount"), takes=_CLICK),
    "key": _Member(_key, needs=("text",), takes=("repeat",)),
    "hold_key": _Member(_hold, needs=("text", "duration")),
    "key_down": _Member(_key_down, needs=("text",)),
    "key_up": _Member(_key_up, needs=("text",)),
    "type": _Member(_simple("type", "Typed."), needs=("text",)),
    "wait": _Member(_wait, needs=("duration",)),
    "cursor_position": _Member(
        lambda _: DesktopCall({"action": "cursor_position"}, "", kind="position")
    ),
}
"""Every member by its name."""
