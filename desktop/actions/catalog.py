"""The actions of a computer: one table, from which the parser and the schemas are built.

An action passes through this folder in four steps, all pure. `requests` decodes the body and checks
every field before anything happens. `ACTIONS` names the fields that an action needs and takes, and
builds its value. `points` converts its points once, from the space of the request to the screen.
`plan` yields the input events. A new action is one row here, one dataclass, and one case in `plan`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from deskhand.desktop.errors import InvalidAction
from deskhand.desktop.geometry import Point, Region
from deskhand.desktop.input.keys import Chord, chord, chords, keysyms_of_text
from deskhand.desktop.screenshots.options import PictureOptions

from .fields import BUTTON_NAMES

# Button numbers of the X protocol; 4 to 7 are the wheel.
LEFT, MIDDLE, RIGHT, BACK, FORWARD = 1, 2, 3, 8, 9
_BUTTON_NUMBERS = (LEFT, MIDDLE, RIGHT, BACK, FORWARD)
BUTTONS = dict(zip(BUTTON_NAMES, _BUTTON_NUMBERS, strict=True))


@dataclass(frozen=True)
class Key:
    """Strike chords, one after the other."""

    chords: tuple[Chord, ...]


@dataclass(frozen=True)
class Type:
    """Type a text."""

    keysyms: tuple[int, ...]
    delay: float
    """Seconds after each character."""
    hosts: tuple[str, ...] = ()
    """Hosts or domains whose pages may receive the text; empty for any."""
    protected: bool = False
    """True if only the field that has the focus at the beginning may receive the text."""
    text: str = ""
    any_field: bool = False
    """True if with ``hosts`` also fields that are not of a sign-in may receive the text."""


@dataclass(frozen=True)
class KeyDown:
    """Press keys and leave them pressed."""

    chord: Chord


@dataclass(frozen=True)
class KeyUp:
    """Release keys."""

    chord: Chord


@dataclass(frozen=True)
class HoldKey:
    """Hold keys for a while."""

    chord: Chord
    seconds: float


@dataclass(frozen=True)
class MouseMove:
    """Move the pointer, at once or smoothly."""

    to: Point
    seconds: float


@dataclass(frozen=True)
class Click:
    """Click once or more at a point."""

    at: Point
    button: int
    count: int
    modifiers: tuple[int, ...]


@dataclass(frozen=True)
class ButtonDown:
    """Press a button at a point or where the pointer is, and leave it pressed."""

    button: int
    at: Point | None = None


@dataclass(frozen=True)
class ButtonUp:
    """Release a button at a point or where the pointer is."""

    button: int
    at: Point | None = None


@dataclass(frozen=True)
class Drag:
    """Move along a path with a button pressed."""

    path: tuple[Point, ...]
    seconds: float
    modifiers: tuple[int, ...]
    button: int = LEFT


@dataclass(frozen=True)
class Scroll:
    """Turn the wheel at a point, by notches or by pixels: to the right and down, or back."""

    at: Point
    right: int
    down: int
    modifiers: tuple[int, ...]
    in_pixels: bool = False


@dataclass(frozen=True)
class CursorPosition:
    """Return the position of the pointer."""


@dataclass(frozen=True)
class Screenshot:
    """Take a screenshot of the screen, or of a region."""

    region: Region | None
    options: PictureOptions


@dataclass(frozen=True)
class Wait:
    """Do nothing for a while."""

    seconds: float


Action = (
    Key
    | Type
    | KeyDown
    | KeyUp
    | HoldKey
    | MouseMove
    | Click
    | ButtonDown
    | ButtonUp
    | Drag
    | Scroll
    | CursorPosition
    | Screenshot
    | Wait
)
"""As a table row builds it, its points are in the pixels of its request's space; a request holds it
with native ones (`located`). Regions stay in the request's space."""

Values = Mapping[str, Any]
"""Fields of a request as read, by name."""


@dataclass(frozen=True)
class ActionKind:
    """One row of the table."""

    summary: str
    build: Callable[[Values], Action]
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    failed: str = ""
    """Message of the error when the display refuses the action."""


@dataclass(frozen=True)
class ActionRecord:
    """Result of one action, for the step log."""

    tool_call_id: str
    chat_id: str
    action: str
    model_point: Point | None
    native_point: Point | None
    text: str | None
    started: float
    ended: float
    """End of the action. ``started`` and ``ended`` are seconds on the monotonic clock."""
    changed_fraction: float | None
    error: str | None
    timings: Mapping[str, float]
    """Milliseconds by stage: act, settle, capture, encode."""
    frames: tuple[str, str] = ("", "")
    """Names of what the screen showed before and after, empty without an observation."""
    tool: str = "computer"
    """Name of the tool that the action is a call of."""


def picture_options(values: Values) -> PictureOptions:
    """Return the screenshot options among the given fields."""
    return PictureOptions(**{name: values[name] for name in _PICTURE if name in values})


def _click(button: int, count: int = 1) -> Callable[[Values], Action]:
    return lambda v: Click(v["coordinate"], _button(v, button), count, _modifiers(v))


def _button(values: Values, otherwise: int = LEFT) -> int:
    return BUTTONS[values["button"]] if "button" in values else otherwise


def _seconds(values: Values, otherwise: float) -> float:
    if "duration" in values and "duration_ms" in values:
        raise InvalidAction('Give "duration" or "duration_ms", not both.')
    # Both readers return seconds.
    return float(values.get("duration", values.get("duration_ms", otherwise)))


def _modifiers(values: Values) -> tuple[int, ...]:
    # Anthropic's toolset names modifiers of a click in "text", as 'ctrl+shift'.
    named = [*values.get("modifiers", ())]
    if values.get("text"):
        named.insert(0, values["text"])
    return tuple(dict.fromkeys(keysym for name in named for keysym in chord(name).keysyms))


def _type(values: Values) -> Action:
    keysyms, delay = keysyms_of_text(values["text"]), values.get("delay_ms", 0) / 1000
    # The request would outlive every client's timeout, and hold up all actions behind it.
    if len(keysyms) * delay > 100:
        raise InvalidAction("Typing this with that delay would take more than 100 seconds.")
    hosts = values.get("hosts", ())
    if values.get("any_field") and not hosts:
        raise InvalidAction('"any_field" is for a text with "hosts": others go into any field.')
    protected = values.get("protected", bool(hosts))
    text, any_field = values["text"] if protected else "", values.get("any_field", False)
    return Type(keysyms, delay, hosts, protected, text, any_field)


def _drag(values: Values) -> Action:
    path = values.get("path")
    if path is None:
        if "start_coordinate" not in values or "coordinate" not in values:
            raise InvalidAction('Missing "coordinate" or "start_coordinate" for left_click_drag.')
        path = (values["start_coordinate"], values["coordinate"])
    elif "start_coordinate" in values or "coordinate" in values:
        raise InvalidAction('Give "path" or the two ends of a drag, not both.')
    return Drag(path, _seconds(values, 0.2), _modifiers(values), _button(values))


_WAYS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}


def _scroll(values: Values) -> Action:
    by = [name for name in _AMOUNTS if name in values]
    if {"scroll_x", "scroll_y"}.intersection(by):
        if len(by) > len({"scroll_x", "scroll_y"}.intersection(by)):
            raise InvalidAction('Give "scroll_x" and "scroll_y", or a direction, not both.')
        right, down = (values.get(name, 0) for name in ("scroll_x", "scroll_y"))
        return Scroll(values["coordinate"], right, down, _modifiers(values), True)
    if {"scroll_amount", "scroll_pixels"}.issubset(by):
        raise InvalidAction('Give "scroll_amount" or "scroll_pixels", not both.')
    # The reference demands the direction; models that leave it out mean down.
    right, down = _WAYS[values.get("scroll_direction", "down")]
    amount = values.get("scroll_pixels", values.get("scroll_amount", 3))
    in_pixels = "scroll_pixels" in values
    return Scroll(
        values["coordinate"], right * amount, down * amount, _modifiers(values), in_pixels
    )


def _screenshot(values: Values) -> Action:
    return Screenshot(values.get("region"), picture_options(values))


def _held_button(name: str, button: int, way: str) -> ActionKind:
    where = "at a point, or where the pointer is"
    failed = f"{name.capitalize()} mouse {way} failed."
    if way == "down":
        return ActionKind(
            f"Press the {name} button {where}.",
            lambda v: ButtonDown(button, v.get("coordinate")),
            takes=_AT,
            failed=failed,
        )
    return ActionKind(
        f"Release the {name} button {where}.",
        lambda v: ButtonUp(button, v.get("coordinate")),
        takes=_AT,
        failed=failed,
    )


_DURATION = ("duration", "duration_ms")
_HELD = ("text", "modifiers")
_SEVERAL = ("button", *_HELD)
_PICTURE = ("format", "quality", "cursor", "since")
_AMOUNTS = ("scroll_direction", "scroll_amount", "scroll_pixels", "scroll_x", "scroll_y")
_AT = ("coordinate",)
_TEXT = ("text",)

ACTIONS: dict[str, ActionKind] = {
    "key": ActionKind(
        "Strike a key or a chord, as 'ctrl+s'; several with blanks between them.",
        lambda v: Key(chords(v["text"])),
        needs=_TEXT,
        failed="Key press failed.",
    ),
    "type": ActionKind(
        "Type a text.",
        _type,
        needs=_TEXT,
        takes=("delay_ms", "hosts", "protected", "any_field"),
        failed="Type action failed.",
    ),
    "key_down": ActionKind(
        "Press a key or a chord and leave it pressed.",
        lambda v: KeyDown(chord(v["text"])),
        needs=_TEXT,
        failed="Key down failed.",
    ),
    "key_up": ActionKind(
        "Let a key or a chord go.", lambda v: KeyUp(chord(v["text"])), _TEXT, (), "Key up failed."
    ),
    "hold_key": ActionKind(
        "Hold a key or a chord, for a second if nothing else is said.",
        lambda v: HoldKey(chord(v["text"]), _seconds(v, 1.0)),
        needs=_TEXT,
        takes=_DURATION,
        failed="Key press failed.",
    ),
    "mouse_move": ActionKind(
        "Move the pointer; smoothly if a duration is given.",
        lambda v: MouseMove(v["coordinate"], _seconds(v, 0.0)),
        needs=_AT,
        takes=_DURATION,
        failed="Mouse move failed.",
    ),
    "left_click": ActionKind("Click.", _click(LEFT), _AT, _HELD, "Left click failed."),
    "right_click": ActionKind(
        "Click with the right button.", _click(RIGHT), _AT, _HELD, "Right click failed."
    ),
    "middle_click": ActionKind(
        "Click with the middle button.", _click(MIDDLE), _AT, _HELD, "Middle click failed."
    ),
    "double_click": ActionKind(
        "Click twice.", _click(LEFT, 2), _AT, _SEVERAL, "Double click failed."
    ),
    "triple_click": ActionKind(
        "Click three times.", _click(LEFT, 3), _AT, _SEVERAL, "Triple click failed."
    ),
    "back_click": ActionKind(
        "Click with the button for going back.", _click(BACK), _AT, _HELD, "Back click failed."
    ),
    "forward_click": ActionKind(
        "Click with the button for going forward.",
        _click(FORWARD),
        _AT,
        _HELD,
        "Forward click failed.",
    ),
    **{
        f"{name}_mouse_{way}": _held_button(name, button, way)
        for name, button in (("left", LEFT), ("right", RIGHT), ("middle", MIDDLE))
        for way in ("down", "up")
    },
    "left_click_drag": ActionKind(
        "Drag with a button, the left one if nothing else is said, from start_coordinate to "
        "coordinate or along a path.",
        _drag,
        takes=("start_coordinate", "coordinate", "path", *_DURATION, *_SEVERAL),
        failed="Left click drag failed.",
    ),
    "scroll": ActionKind(
        "Turn the wheel at a point; three notches down if nothing else is said.",
        _scroll,
        needs=_AT,
        takes=(*_AMOUNTS, *_HELD),
        failed="Scroll failed.",
    ),
    "cursor_position": ActionKind(
        "Say where the pointer is.", lambda _: CursorPosition(), failed="Cursor position failed."
    ),
    "screenshot": ActionKind(
        "Take a picture of the screen, or of a region of it.",
        _screenshot,
        takes=("region", *_PICTURE),
        failed="Screenshot failed.",
    ),
    "zoom": ActionKind(
        "Take a picture of a region in all the detail the screen has.",
        _screenshot,
        needs=("region",),
        takes=_PICTURE,
        failed="Screenshot failed.",
    ),
    "wait": ActionKind(
        "Do nothing, for a second if nothing else is said.",
        lambda v: Wait(_seconds(v, 1.0)),
        takes=_DURATION,
        failed="Wait failed.",
    ),
}
"""Every action by its name in requests."""


def output(name: str) -> str:
    """Return the output text of a successful action that has no other result."""
    return name if name in ("screenshot", "zoom") else f"{name} action performed"
