"""Modifier keys that are down while events are sent: none is pressed twice or released early."""

from dataclasses import dataclass
from typing import Self

from .keymap import LEVEL3_SHIFT
from .keys import MODIFIERS, SHIFTS

_SHIFT, _LOCK, _CONTROL, _MOD1, _MOD4, _MOD5 = 1, 2, 4, 8, 64, 128
"""Bits of SETofKEYBUTMASK (X11 protocol, appendix B); Mod1 is Alt, Mod4 Super, Mod5 AltGr."""


@dataclass
class Modifiers:
    """State of the modifier keys on the display."""

    shift: bool
    level3: bool
    lock: bool
    """True while Caps Lock is on."""
    command: bool
    """True while Control, Alt or Super is down: a tap is a shortcut then, not text."""

    @classmethod
    def of(cls, mask: int) -> Self:
        """Return the modifiers of a key mask, as QueryPointer reports it."""
        return cls(
            shift=bool(mask & _SHIFT),
            level3=bool(mask & _MOD5),
            lock=bool(mask & _LOCK),
            command=bool(mask & (_CONTROL | _MOD1 | _MOD4)),
        )

    def note(self, keysym: int, down: bool) -> None:
        """Record that a key was pressed or released."""
        if keysym in SHIFTS:
            self.shift = down
        elif keysym == LEVEL3_SHIFT:
            self.level3 = down
        elif keysym in MODIFIERS:
            self.command = down

    @property
    def capitals(self) -> bool:
        """True if Caps Lock changes the case of a tapped letter: a shortcut names a key instead."""
        return self.lock and not self.command
