"""PyAutoGUI's names of the keys, and the characters and keys that it cannot press."""

from collections.abc import Iterable

from deskhand.desktop.actions.catalog import (
    BACK,
    FORWARD,
    Action,
    Click,
    Drag,
    HoldKey,
    Key,
    KeyDown,
    KeyUp,
    Scroll,
    Type,
)
from deskhand.desktop.input.keysyms import KEYSYMS

_NAMES = {
    "Return": "enter",
    "KP_Enter": "enter",
    "Tab": "tab",
    "BackSpace": "backspace",
    "Delete": "delete",
    "Insert": "insert",
    "Escape": "escape",
    "space": "space",
    "Home": "home",
    "End": "end",
    "Prior": "pageup",
    "Next": "pagedown",
    "Up": "up",
    "Down": "down",
    "Left": "left",
    "Right": "right",
    "Shift_L": "shiftleft",
    "Shift_R": "shiftright",
    "Control_L": "ctrlleft",
    "Control_R": "ctrlright",
    "Alt_L": "altleft",
    "Alt_R": "altright",
    "Super_L": "winleft",
    "Super_R": "winright",
    "Caps_Lock": "capslock",
    "Num_Lock": "numlock",
    "Scroll_Lock": "scrolllock",
    "Print": "printscreen",
    "Pause": "pause",
    "Menu": "apps",
    **{f"F{number}": f"f{number}" for number in range(1, 13)},
}
_KEYS = {KEYSYMS[name]: key for name, key in _NAMES.items()}
_ASCII = range(0x20, 0x7F)
_LATIN1 = range(0xA0, 0x100)
# From 0x01000000 on a keysym is a Unicode code point (X11 protocol, appendix A).
_CHARACTERS = range(0x0100_0000, 0x0111_0000)


def key_name(keysym: int) -> str | None:
    """Return PyAutoGUI's name of a key; None if it has none."""
    if keysym in _KEYS:
        return _KEYS[keysym]
    return chr(keysym) if keysym in _ASCII else None


def unreachable(action: Action) -> tuple[str, ...]:
    """Return the characters, keys and buttons of an action that PyAutoGUI lacks, each once."""
    match action:
        case Key(chords):
            wanted = [keysym for chord in chords for keysym in chord.keysyms]
        case Type(keysyms):
            wanted = list(keysyms)
        case KeyDown(chord) | KeyUp(chord) | HoldKey(chord):
            wanted = list(chord.keysyms)
        case Click(button=button) if button in (BACK, FORWARD):
            return ("the button for going back or forward",)
        case Click(modifiers=modifiers) | Drag(modifiers=modifiers) | Scroll(modifiers=modifiers):
            wanted = list(modifiers)
        case _:
            wanted = []
    return _named(keysym for keysym in wanted if key_name(keysym) is None)


def _named(keysyms: Iterable[int]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(_name, keysyms)))


def _name(keysym: int) -> str:
    if keysym in _LATIN1:
        return chr(keysym)
    if keysym in _CHARACTERS:
        return chr(keysym - _CHARACTERS.start)
    return next((name for name, known in KEYSYMS.items() if known == keysym), hex(keysym))
