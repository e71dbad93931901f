"""Keysyms of key names, aliases, characters and chords."""

import difflib
from typing import NamedTuple

from deskhand.desktop.errors import InvalidAction

from .keysyms import KEYSYMS, NAMES

MODIFIERS = frozenset(
    KEYSYMS[f"{name}_{side}"]
    for name in ("Shift", "Control", "Alt", "Super", "Meta", "Hyper")
    for side in "LR"
) | {KEYSYMS["ISO_Level3_Shift"]}

SHIFTS = frozenset((KEYSYMS["Shift_L"], KEYSYMS["Shift_R"]))

_ALIASES = {
    "ctrl": "Control_L",
    "control": "Control_L",
    "alt": "Alt_L",
    "option": "Alt_L",
    "altgr": "ISO_Level3_Shift",
    "shift": "Shift_L",
    "super": "Super_L",
    "meta": "Super_L",
    "command": "Super_L",
    "cmd": "Super_L",
    "win": "Super_L",
    "windows": "Super_L",
    "hyper": "Hyper_L",
    "enter": "Return",
    "esc": "Escape",
    "del": "Delete",
    "ins": "Insert",
    "pageup": "Prior",
    "pgup": "Prior",
    "pagedown": "Next",
    "pgdn": "Next",
    "pgdown": "Next",
    "arrowup": "Up",
    "arrowdown": "Down",
    "arrowleft": "Left",
    "arrowright": "Right",
    "capslock": "Caps_Lock",
    "numlock": "Num_Lock",
    "scrolllock": "Scroll_Lock",
    "printscreen": "Print",
    "prtsc": "Print",
    "backtab": "ISO_Left_Tab",
    "spacebar": "space",
    "apps": "Menu",
    "euro": "EuroSign",
    "contextmenu": "Menu",
    "volumeup": "XF86AudioRaiseVolume",
    "volumedown": "XF86AudioLowerVolume",
    "volumemute": "XF86AudioMute",
    "playpause": "XF86AudioPlay",
    "nexttrack": "XF86AudioNext",
    "prevtrack": "XF86AudioPrev",
    "ctrlleft": "Control_L",
    "ctrlright": "Control_R",
    "shiftleft": "Shift_L",
    "shiftright": "Shift_R",
    "altleft": "Alt_L",
    "altright": "Alt_R",
    "winleft": "Super_L",
    "winright": "Super_R",
    "ctrll": "Control_L",
    "ctrlr": "Control_R",
    **{f"numpad{digit}": f"KP_{digit}" for digit in range(10)},
}

# Base of the keysyms of Unicode code points from U+0100 on (X11 protocol, appendix A).
_UNICODE = 0x01000000
_TYPED_CONTROLS = {"\n": "Return", "\t": "Tab"}


class Chord(NamedTuple):
    """Keys that are pressed in order and held together; the last one is released at once."""

    held: tuple[int, ...]
    struck: int

    @property
    def keysyms(self) -> tuple[int, ...]:
        """All keys in the order of pressing."""
        return (*self.held, self.struck)


def keysym_of_name(name: str) -> int:
    """Return the keysym of one key: a name in any case, an alias, or a single character.

    Raises:
        InvalidAction: If there is no such key; the text suggests similar names.
    """
    if len(name) == 1:
        # `ctrl+C` means the key, as people write it; with Shift it is `ctrl+shift+c`.
        return keysym_of_character(name.lower() if name.isascii() else name)
    if name in KEYSYMS:
        return KEYSYMS[name]
    small = name.lower()
    known = _ALIASES.get(small) or NAMES.get(small) or _ALIASES.get(small.replace("_", ""))
    if known is None:
        raise InvalidAction(f"Unknown key: {name}", _alike(small))
    return KEYSYMS[known]


def keysym_of_character(character: str) -> int:
    """Return the keysym that types one character.

    Raises:
        InvalidAction: For a control character that has no key, a surrogate or a noncharacter.
    """
    code = ord(character)
    if character in _TYPED_CONTROLS:
        return KEYSYMS[_TYPED_CONTROLS[character]]
    if code < 0x20 or 0x7F <= code < 0xA0 or 0xD800 <= code < 0xE000 or _is_noncharacter(code):
        raise InvalidAction(f"No key types the character U+{code:04X}.")
    return code if code <= 0xFF else _UNICODE + code


def character_of_keysym(keysym: int) -> str:
    """Return the character of a keysym that `keysym_of_character` returns."""
    return chr(keysym - _UNICODE if keysym >= _UNICODE else keysym)


def is_small_letter(keysym: int) -> bool:
    """Return True for keysyms of letters that Shift makes capitals."""
    # Only keysyms of Latin-1 and Unicode are code points.
    if 0xFF < keysym < _UNICODE:
        return False
    character = character_of_keysym(keysym)
    return character.upper() != character


def _is_noncharacter(code: int) -> bool:
    """Return True for the 66 code points that are never characters (Unicode, section 23.7)."""
    return 0xFDD0 <= code <= 0xFDEF or code & 0xFFFE == 0xFFFE


def keysyms_of_text(text: str) -> tuple[int, ...]:
    """Return one keysym for each character of a text; a line break, also CR LF, is one Return."""
    text = text.replace("\r\n", "\n")
    distinct = {character: keysym_of_character(character) for character in dict.fromkeys(text)}
    return tuple(distinct[character] for character in text)


def chord(text: str) -> Chord:
    """Read keys joined by ``+``, as ``ctrl+shift+t``; ``+`` itself may come last."""
    parts = [part.strip() or part for part in text.split("+")]
    if len(parts) >= 2 and parts[-2:] == ["", ""]:
        parts[-2:] = ["+"]
    if "" in parts:
        raise InvalidAction(f"Unknown key: {text}", "A key is missing beside a '+'.")
    *held, struck = (keysym_of_name(part) for part in parts)
    return Chord(tuple(held), struck)


def chords(text: str) -> tuple[Chord, ...]:
    """Parse one chord, or several separated by blanks, to be typed in order."""
    if not text.strip():
        return (chord(text[:1]),)
    joined = "+".join(part.strip() for part in text.split(" + "))
    # A name of two words, such as `Page Down`, is one key and not two chords.
    one_name = "_".join(joined.split())
    if one_name.lower() in NAMES:
        return (chord(one_name),)
    return tuple(chord(part) for part in joined.split())


def _alike(name: str) -> str:
    names = {**{alias: alias for alias in _ALIASES}, **NAMES}
    close = difflib.get_close_matches(name, names, n=4, cutoff=0.6)
    if not close:
        return ""
    return "Did you mean " + ", ".join(names[match] for match in close) + "?"
