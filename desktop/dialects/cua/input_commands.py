"""Commands of the mouse and the keyboard. Pure.

Points are native pixels.
"""

from collections.abc import Callable, Sequence
from typing import Any

from .arguments import Params, number, path, point, text, texts, whole
from .errors import FailedCommand
from .route_call import DESKTOP, Calls, Json, Single, action, succeeding

_BUTTONS = ("left", "middle", "right", "back", "forward")
_HELD = ("left", "middle", "right")
"""Buttons that can be held."""
_KEYS = {
    "alt_gr": "altgr",
    "cmd_l": "Super_L",
    "cmd_r": "Super_R",
    "alt_l": "Alt_L",
    "alt_r": "Alt_R",
    "ctrl_l": "Control_L",
    "ctrl_r": "Control_R",
    "shift_l": "Shift_L",
    "shift_r": "Shift_R",
    "+": "plus",
    " ": "space",
    "media_volume_up": "volumeup",
    "media_volume_down": "volumedown",
    "media_volume_mute": "volumemute",
    "media_play_pause": "playpause",
    "media_next": "nexttrack",
    "media_previous": "prevtrack",
}
"""Names of pynput for keys that have another name here."""


def cursor_position(params: Params) -> Calls:
    """Return where the pointer is."""
    reply = yield from succeeding("GET", f"{DESKTOP}/pointer")
    x, y = reply.json()["native_point"]
    return {"position": {"x": x, "y": y}}


def click(button: str) -> Callable[[Params], Calls]:
    """Return the command that clicks with a button, unless a parameter names another one."""

    def command(params: Params) -> Calls:
        at = point(params) or (yield from _pointer())
        yield from action(f"{_button(params, button)}_click", coordinate=at)
        return {}

    return command


def double_click(params: Params) -> Calls:
    """Click twice."""
    at = point(params) or (yield from _pointer())
    button = _button(params, "left")
    if button == "left":
        yield from action("double_click", coordinate=at)
    else:
        yield from action(f"{button}_click", coordinate=at)
        yield from action(f"{button}_click", coordinate=at)
    return {}


def mouse(way: str) -> Callable[[Params], Calls]:
    """Return the command that presses a button and leaves it pressed, or releases it."""

    def command(params: Params) -> Calls:
        button, at = _button(params, "left", _HELD), point(params)
        if at is not None:
            yield from action("mouse_move", coordinate=at)
        yield from action(f"{button}_mouse_{way}")
        return {}

    return command


def move_cursor(params: Params) -> Calls:
    """Move the pointer."""
    yield from action("mouse_move", coordinate=[whole(params, "x"), whole(params, "y")])
    return {}


def drag_to(params: Params) -> Calls:
    """Drag from where the pointer is."""
    to = [whole(params, "x"), whole(params, "y")]
    start = yield from _pointer()
    return (yield from _dragged(params, [start, to]))


def drag(params: Params) -> Calls:
    """Drag along a path."""
    return (yield from _dragged(params, path(params)))


def scroll(params: Params) -> Calls:
    """Turn the wheel; ``x`` and ``y`` are notches, or the place if ``scroll_y`` is given."""
    if params.get("scroll_x") is None and params.get("scroll_y") is None:
        at = yield from _pointer()
        right, up = whole(params, "x", 0), whole(params, "y", 0)
    else:
        at = point(params) or (yield from _pointer())
        right, up = whole(params, "scroll_x", 0), whole(params, "scroll_y", 0)
    if up:
        yield from _turned(at, "up" if up > 0 else "down", abs(up))
    if right:
        yield from _turned(at, "right" if right > 0 else "left", abs(right))
    return {}


def scroll_by(direction: str) -> Callable[[Params], Calls]:
    """Return the command that turns the wheel in one direction, by ``clicks``."""

    def command(params: Params) -> Calls:
        at = yield from _pointer()
        yield from _turned(at, direction, abs(whole(params, "clicks", 1)))
        return {}

    return command


def scroll_direction(params: Params) -> Calls:
    """Turn the wheel in the given direction."""
    direction = text(params, "direction").lower()
    if direction not in ("up", "down", "left", "right"):
        raise FailedCommand("direction must be up, down, left or right")
    return (yield from scroll_by(direction)(params))


def type_text(params: Params) -> Calls:
    """Type a text."""
    yield from action("type", text=text(params, "text"))
    return {}


def press_key(params: Params) -> Calls:
    """Press and release a key."""
    yield from action("key", text=_key(text(params, "key")))
    return {}


def hotkey(params: Params) -> Calls:
    """Press keys together."""
    keys = texts(params, "keys")
    if not keys:
        raise FailedCommand("keys must not be empty")
    yield from action("key", text="+".join(map(_key, keys)))
    return {}


def held(name: str) -> Callable[[Params], Calls]:
    """Return the command ``key_down`` or ``key_up``."""

    def command(params: Params) -> Calls:
        yield from action(name, text=_key(text(params, "key")))
        return {}

    return command


def _key(name: str) -> str:
    if len(name) == 1 and name.isalpha() and name.isascii() and name.isupper():
        return f"shift+{name.lower()}"
    return _KEYS.get(name if len(name) == 1 else name.lower(), name)


def _pointer() -> Any:
    reply = yield from action("cursor_position")
    found: Json = reply.json()
    return list(found["native_point"])


def _turned(at: list[int], direction: str, notches: int) -> Single:
    return (
        yield from action(
            "scroll", coordinate=at, scroll_direction=direction, scroll_amount=notches
        )
    )


def _button(params: Params, default: str, buttons: Sequence[str] = _BUTTONS) -> str:
    button = text(params, "button", default).lower()
    if button not in buttons:
        raise FailedCommand(f"button must be one of {', '.join(buttons)}")
    return button


def _dragged(params: Params, points: list[list[int]]) -> Calls:
    button = _button(params, "left", _HELD)
    seconds = max(number(params, "duration", 0.5), 0)
    if button == "left":
        yield from action("left_click_drag", path=points, duration=seconds)
        return {}
    start, *others = points
    yield from action("mouse_move", coordinate=start)
    yield from action(f"{button}_mouse_down")
    for at in others:
        yield from action("mouse_move", coordinate=at, duration=seconds / len(others))
    yield from action(f"{button}_mouse_up")
    return {}
