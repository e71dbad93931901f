"""Translation of a call of the computer toolset into a request of the desktop service.

The members and their inputs are those of Anthropic's ``computer_toolset_20260801``, and some that
only other providers have; the request is that of ``POST /api/v0/desktop/action``. ``MEMBERS`` has
one row for each member: the fields that it needs and takes, and the function that builds the
request. Values are checked here, before anything is sent, so that the error message uses the
model's names of the fields.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from deskhand.desktop.errors import BadField
from deskhand.desktop.fields import (
    Field,
    Fields,
    Json,
    Reader,
    any_text,
    between,
    is_number,
    one_of,
    wrong,
)

from .arguments import unusable

QUIET_MS = 100
SETTLE_MS = 3000
LONGEST_SECONDS = 100
MOST_REPEATS = 100
MOST_NOTCHES = 100
MOST_PIXELS = 10_000
Direction = Literal["up", "down", "left", "right"]
DIRECTIONS: tuple[Direction, ...] = ("up", "down", "left", "right")
REFUSED = "refused_input"
"""Member of a call that a provider's adapter could not convert; ``problem`` is the reason."""


PIXELS_A_NOTCH = 80
"""Pixels of the screenshot by which a browser usually scrolls for one notch of the wheel."""


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

    @property
    def fields(self) -> Fields:
        return Fields({name: FIELDS[name] for name in (*self.needs, *self.takes)}, self.needs)


def desktop_call(member: str, arguments: object) -> DesktopCall:
    """Return the request for a call of ``member``.

    Raises:
        BadField: If there is no such member, or its input is wrong.
    """
    if member == REFUSED and isinstance(arguments, dict):
        raise unusable("action", str(arguments.get("problem")))
    row = MEMBERS.get(member)
    if row is None:
        there = ", ".join(MEMBERS)
        raise unusable("action", f"There is no computer action {member!r}; there are {there}.")
    if isinstance(arguments, Mapping):
        # Models may send ``null`` for the fields of other members.
        others = FIELDS.keys() - row.fields.of
        arguments = {k: v for k, v in arguments.items() if v is not None or k not in others}
    try:
        given = row.fields.read(arguments)
    except BadField as error:
        raise unusable(error.field, f"{member}: {error.sentence}") from error
    return row.build({name: value for name, value in given.items() if value is not None})


def distance_of(scroll: Mapping[str, Any]) -> tuple[Direction, int]:
    """Return the direction of a ``scroll`` and its usual pixels; of two directions, the further."""
    right, down = (int(scroll.get(name) or 0) for name in ("scroll_x", "scroll_y"))
    if abs(right) > abs(down):
        return "right" if right > 0 else "left", abs(right)
    if down:
        return "down" if down > 0 else "up", abs(down)
    notches = scroll.get("scroll_amount", 1)
    return scroll.get("scroll_direction", "down"), int(notches * PIXELS_A_NOTCH)


def _text(name: str, value: Any) -> str:
    if not any_text(name, value):
        raise wrong(name, "a text, not empty")
    return str(value)


def _numbers(count: int, shape: str) -> Reader:
    def read(name: str, value: Any) -> list[int]:
        if not isinstance(value, list) or len(value) != count or not all(map(is_number, value)):
            raise wrong(name, f"{shape}, in pixels of the screenshot")
        # Models may send fractions of a pixel.
        return [int(number) for number in value]

    return read


def _pixels(name: str, value: Any) -> int:
    return int(between(-MOST_PIXELS, MOST_PIXELS)(name, value))


def _path(name: str, value: Any) -> list[list[int]]:
    if not isinstance(value, list) or len(value) < 2:
        raise wrong(name, "two points or more, each [x, y]")
    return [_numbers(2, "points, each [x, y]")(name, point) for point in value]


def _integers(count: int) -> Json:
    return {
        "type": "array",
        "items": {"type": "integer"},
        "minItems": count,
        "maxItems": count,
    }


_POINT = _numbers(2, "[x, y]")
FIELDS: Mapping[str, Field] = {
    "coordinate": Field(
        {**_integers(2), "description": "Where to click, move, scroll or drop."}, _POINT
    ),
    "start_coordinate": Field(
        {**_integers(2), "description": "Where left_click_drag begins."}, _POINT
    ),
    "text": Field(
        {
            "type": "string",
            "description": "The text to type; keys for key and hold_key, as ctrl+s; the"
            " keys to hold during a click.",
        },
        _text,
    ),
    "scroll_direction": Field({"type": "string", "enum": list(DIRECTIONS)}, one_of(*DIRECTIONS)),
    "scroll_amount": Field(
        {"type": "integer", "description": "Notches of the wheel."}, between(0, MOST_NOTCHES)
    ),
    # Pixels of the screenshot, to the right and down: for models that scroll by them.
    "scroll_x": Field({"type": "integer"}, _pixels),
    "scroll_y": Field({"type": "integer"}, _pixels),
    "duration": Field(
        {"type": "number", "description": "Seconds, for wait and hold_key."},
        between(0, LONGEST_SECONDS),
    ),
    "repeat": Field(
        {"type": "integer", "description": "How often key strikes."}, between(1, MOST_REPEATS)
    ),
    "region": Field(
        {**_integers(4), "description": "[x0, y0, x1, y1], for zoom."},
        _numbers(4, "[x0, y0, x1, y1]"),
    ),
    "path": Field({"type": "array", "items": _integers(2), "minItems": 2}, _path),
}
"""Every field that members have."""


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
    if {"scroll_x", "scroll_y"} & given.keys():
        return _pointed("scroll", "Scrolled.")(given)
    for needed in ("scroll_direction", "scroll_amount"):
        if needed not in given:
            raise unusable(needed, f"scroll: {needed} is required")
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
    "left_mouse_down": _Member(_simple("left_mouse_down", "The left button is down."), takes=_AT),
    "left_mouse_up": _Member(_simple("left_mouse_up", "The left button is up."), takes=_AT),
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
    "scroll": _Member(
        _scroll, takes=("scroll_direction", "scroll_amount", "scroll_x", "scroll_y", *_CLICK)
    ),
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
