"""Actions of the desktop's own API for calls of pyautogui. Pure.

The module ``pyautogui`` of commands uses a copy of this file, so it imports the standard library
only. Coordinates are native pixels. A wrong call raises `TypeError`, as it does in pyautogui.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

Json = dict[str, Any]
Place = tuple[float | None, float | None]
"""Coordinates of a call; None for that of the pointer."""

_END = ("logScreenshot", "_pause")
_MOVE = ("duration", "tween", *_END)
_DRAG = ("duration", "tween", "button", *_END, "mouseDownUp")
_CLICK = ("x", "y", "interval", *_MOVE)
_MANY = ("x", "y", "interval", "button", *_MOVE)
_WHEEL = ("clicks", "x", "y", *_END)

SIGNATURES: Mapping[str, tuple[str, ...]] = {
    "moveTo": ("x", "y", *_MOVE),
    **dict.fromkeys(("moveRel", "move"), ("xOffset", "yOffset", *_MOVE)),
    "click": ("x", "y", "clicks", "interval", "button", *_MOVE),
    **dict.fromkeys(("leftClick", "rightClick", "middleClick"), _CLICK),
    **dict.fromkeys(("doubleClick", "tripleClick"), _MANY),
    **dict.fromkeys(("mouseDown", "mouseUp"), ("x", "y", "button", *_MOVE)),
    "dragTo": ("x", "y", *_DRAG),
    **dict.fromkeys(("dragRel", "drag"), ("xOffset", "yOffset", *_DRAG)),
    **dict.fromkeys(("scroll", "vscroll", "hscroll"), _WHEEL),
    **dict.fromkeys(("typewrite", "write"), ("message", "interval", *_END)),
    "press": ("keys", "presses", "interval", *_END),
    **dict.fromkeys(("keyDown", "keyUp"), ("key", *_END)),
    "hotkey": (),
    "sleep": ("seconds",),
    "PAUSE": ("seconds",),
}
"""Parameters of the functions that are served. ``PAUSE`` is the pause after each later call."""

LONGEST_WAIT = 100.0
"""Seconds of one action."""
MOST_ACTIONS = 100
"""Actions of one request."""

_BUTTONS = {"left": "left", "primary": "left", 1: "left", "middle": "middle", 2: "middle"} | {
    "right": "right",
    "secondary": "right",
    3: "right",
}
_REPEATED = {2: "double_click", 3: "triple_click"}
_KEYS = {" ": "space", "+": "plus", "\n": "enter", "\r": "enter", "\t": "tab"} | {
    **{f"num{digit}": f"KP_{digit}" for digit in range(10)},
    **{"add": "KP_Add", "subtract": "KP_Subtract", "multiply": "KP_Multiply"},
    **{"divide": "KP_Divide", "decimal": "KP_Decimal", "separator": "KP_Separator"},
    **{"return": "enter", "prntscrn": "print", "prtscr": "print", "prtsc": "print"},
    **{"option": "alt", "optionleft": "alt", "optionright": "altright", "command": "cmd"},
    **{"browserback": "XF86Back", "browserforward": "XF86Forward", "browserhome": "XF86HomePage"},
}
_SHIFTED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ")


def actions_of(calls: Iterable[tuple[str, Sequence[Any], Mapping[str, Any]]]) -> list[Json]:
    """Return the actions of calls, each a name of `SIGNATURES` with its arguments.

    An action at the pointer has no place yet, and one relative to it has ``by``: see `located`.
    """
    found: list[Json] = []
    pause = 0.0
    for name, arguments, keywords in calls:
        if name == "PAUSE":
            pause = _number(_bound(name, arguments, keywords)["seconds"])
            continue
        found += _actions(name, arguments, keywords)
        if name != "sleep":
            found += _waits(pause)
    return found


def needs_pointer(actions: Iterable[Json]) -> bool:
    """Return whether `located` needs to know where the pointer is at the beginning."""
    for action in actions:
        at = action.get("coordinate")
        if at is not None:
            return None in at
        if "by" in action or action["action"] == "scroll" or action["action"].endswith("_click"):
            return True
    return False


def located(actions: Iterable[Json], pointer: tuple[float, float] = (0, 0)) -> list[Json]:
    """Return the actions with the places that they have when the pointer begins at ``pointer``."""
    found = []
    for action in actions:
        at: Place = action.get("coordinate", (None, None))
        by = action.get("by", (0, 0))
        place = tuple(
            (now if one is None else one) + offset
            for one, now, offset in zip(at, pointer, by, strict=True)
        )
        kind = action["action"]
        if kind in ("mouse_move", "scroll") or kind.endswith("_click"):
            pointer = (place[0], place[1])
            rest = {name: value for name, value in action.items() if name != "by"}
            action = {**rest, "coordinate": [int(place[0]), int(place[1])]}
        found.append(action)
    return found


def requests_of(actions: Sequence[Json]) -> list[Json]:
    """Return the bodies of the requests that perform actions."""
    pieces = (actions[at : at + MOST_ACTIONS] for at in range(0, len(actions), MOST_ACTIONS))
    return [{"coordinate_space": "native", "actions": list(piece)} for piece in pieces]


def chord_of(names: Iterable[object]) -> str:
    """Return the chord of keys that pyautogui names."""
    return "+".join(map(_key, names))


def _actions(name: str, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> list[Json]:
    if name == "hotkey":
        keys = arguments[0] if len(arguments) == 1 and _is_list(arguments[0]) else arguments
        return [{"action": "key", "text": chord_of(keys)}] if keys else []
    return _BUILDERS[name](_bound(name, arguments, keywords))


def _bound(name: str, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Json:
    names = SIGNATURES[name]
    if len(arguments) > len(names):
        raise TypeError(f"{name}() takes {len(names)} arguments at most")
    given = dict(zip(names, arguments, strict=False))
    for key, value in keywords.items():
        if key not in names or key in given:
            raise TypeError(f"{name}() has no further argument {key!r}")
        given[key] = value
    if names[0] in ("clicks", "message", "keys", "key", "seconds") and names[0] not in given:
        raise TypeError(f"{name}() misses the argument {names[0]!r}")
    return given


def _place(given: Mapping[str, Any], names: tuple[str, str] = ("x", "y")) -> Place | None:
    """Return the place of a call; None for that of the pointer."""
    first: Any = given.get(names[0])
    second: Any = given.get(names[1])
    if _is_list(first) and second is None:
        if len(first) != 2:
            raise TypeError("a point has two coordinates")
        first, second = first
    if first is None and second is None:
        return None
    return (
        None if first is None else _number(first),
        None if second is None else _number(second),
    )


def _move(given: Mapping[str, Any], relative: bool = False) -> list[Json]:
    place = _place(given, ("xOffset", "yOffset")) if relative else _place(given)
    if place is None:
        return []
    seconds = _number(given.get("duration", 0.0))
    timed = {"duration": seconds} if seconds > 0 else {}
    if relative:
        return [{"action": "mouse_move", "by": [place[0] or 0, place[1] or 0], **timed}]
    return [{"action": "mouse_move", "coordinate": list(place), **timed}]


def _drag(given: Mapping[str, Any], relative: bool) -> list[Json]:
    moved = _move(given, relative)
    if not given.get("mouseDownUp", True):
        return moved
    button = _button(given)
    return [{"action": f"{button}_mouse_down"}, *moved, {"action": f"{button}_mouse_up"}]


def _held(given: Mapping[str, Any], way: str) -> list[Json]:
    return [*_move(given), {"action": f"{_button(given)}_mouse_{way}"}]


def _clicks(given: Mapping[str, Any], count: object) -> list[Json]:
    times = int(_number(count))
    button, place = _button(given), _place(given)
    at = {} if place is None else {"coordinate": list(place)}
    pause = _waits(_number(given.get("interval", 0.0)))
    moved = _move(given) if "duration" in given else []
    if not pause and times in _REPEATED:
        named = {} if button == "left" else {"button": button}
        return [*moved, {"action": _REPEATED[times], **named, **at}]
    one = [{"action": f"{button}_click", **at}, *pause]
    return [*moved, *(dict(step) for _ in range(max(times, 0)) for step in one)]


def _wheel(given: Mapping[str, Any], directions: tuple[str, str]) -> list[Json]:
    notches, place = int(_number(given["clicks"])), _place(given)
    if notches == 0:
        return []
    turned = {"scroll_direction": directions[notches < 0], "scroll_amount": abs(notches)}
    at = {} if place is None else {"coordinate": list(place)}
    return [{"action": "scroll", **turned, **at}]


def _typed(given: Mapping[str, Any]) -> list[Json]:
    message, interval = given["message"], _number(given.get("interval", 0.0))
    if _is_list(message):
        # A list names keys, as press() has them.
        return _pressed({"keys": message, "interval": interval})
    if not isinstance(message, str):
        raise TypeError("the message is a text or a list of keys")
    slow = {"delay_ms": int(interval * 1000)} if interval > 0 else {}
    return [{"action": "type", "text": message, **slow}] if message else []


def _pressed(given: Mapping[str, Any]) -> list[Json]:
    keys = given["keys"] if _is_list(given["keys"]) else [given["keys"]]
    pause = _waits(_number(given.get("interval", 0.0)))
    once = [step for key in keys for step in ({"action": "key", "text": chord_of([key])}, *pause)]
    return [dict(step) for _ in range(int(_number(given.get("presses", 1)))) for step in once]


def _key(name: object) -> str:
    if not isinstance(name, str) or not name:
        raise TypeError("a key is named by a text")
    if name in _SHIFTED:
        return f"shift+{name.lower()}"
    known = name if len(name) == 1 else name.strip().lower()
    return _KEYS.get(known, known)


def _button(given: Mapping[str, Any]) -> str:
    button = given.get("button", "left")
    if isinstance(button, str):
        button = button.lower()
    if not isinstance(button, str | int) or button not in _BUTTONS:
        raise TypeError("the button is left, middle or right")
    return _BUTTONS[button]


def _waits(seconds: float) -> list[Json]:
    if seconds < 0:
        raise TypeError("a time is 0 or longer")
    whole, rest = divmod(seconds, LONGEST_WAIT)
    parts = [LONGEST_WAIT] * int(min(whole, MOST_ACTIONS)) + ([rest] if rest else [])
    return [{"action": "wait", "duration": part} for part in parts]


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError(f"{value!r} is no number")
    return value


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple)


_BUILDERS: Mapping[str, Callable[[Json], list[Json]]] = {
    "sleep": lambda given: _waits(_number(given["seconds"])),
    "moveTo": _move,
    **dict.fromkeys(("moveRel", "move"), lambda given: _move(given, relative=True)),
    "dragTo": lambda given: _drag(given, relative=False),
    **dict.fromkeys(("dragRel", "drag"), lambda given: _drag(given, relative=True)),
    "mouseDown": lambda given: _held(given, "down"),
    "mouseUp": lambda given: _held(given, "up"),
    "click": lambda given: _clicks(given, given.get("clicks", 1)),
    "leftClick": lambda given: _clicks(given, 1),
    "rightClick": lambda given: _clicks({**given, "button": "right"}, 1),
    "middleClick": lambda given: _clicks({**given, "button": "middle"}, 1),
    "doubleClick": lambda given: _clicks(given, 2),
    "tripleClick": lambda given: _clicks(given, 3),
    **dict.fromkeys(("scroll", "vscroll"), lambda given: _wheel(given, ("up", "down"))),
    "hscroll": lambda given: _wheel(given, ("right", "left")),
    **dict.fromkeys(("typewrite", "write"), _typed),
    "press": _pressed,
    "keyDown": lambda given: [{"action": "key_down", "text": chord_of([given["key"]])}],
    "keyUp": lambda given: [{"action": "key_up", "text": chord_of([given["key"]])}],
}
