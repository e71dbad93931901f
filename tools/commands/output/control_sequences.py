"""Control sequences of a terminal (ECMA-48), removed from a text that comes in pieces. Pure.

A sequence may set the clipboard or the title, move the cursor to other lines, or have the terminal
send input. Text that only prints stays; a carriage return becomes a new line, so that nothing is
printed over what a person has read.
"""

import re
from typing import Literal

from .table import harmless

_State = Literal["text", "escape", "sequence", "string"]

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_ESCAPE, _RETURN = "\x1b", "\r"
_CANCEL = "\x18\x1a"
"""CAN and SUB, which end every sequence."""
_C1_SEQUENCE, _C1_STRINGS = "\x9b", "\x90\x98\x9d\x9e\x9f"
"""CSI; DCS, SOS, OSC, PM and APC, which last until ST. After ESC they are the characters below."""
_SEQUENCE, _STRINGS = "[", "PX]^_"
_STRING_ENDS = "\x07\x9c"
"""BEL, which xterm takes for ST after OSC, and ST as a C1 control."""
_FIRST_C1 = "\x80"
"""No sequence has this character or a later one."""


class TerminalText:
    """The text of one output without control sequences, whose pieces may be divided anywhere."""

    def __init__(self) -> None:
        self._state: _State = "text"
        self._returned = False
        """True after a carriage return that is not followed by anything yet."""

    def feed(self, text: str) -> str:
        """Return what is left of the next piece."""
        if self._state == "text" and not self._returned and not _CONTROL.search(text):
            return harmless(text)
        return harmless("".join(map(self._left, text)))

    def _left(self, one: str) -> str:
        state = self._state
        if state == "text":
            return self._of_text(one)
        if one == _ESCAPE:
            # Within a string, ST is ESC with a backslash; any other escape ends the string too.
            self._state = "escape"
        elif one in _CANCEL:
            self._state = "text"
        elif state == "string":
            self._state = "text" if one in _STRING_ENDS else "string"
        elif one >= _FIRST_C1:
            self._state = "text"
            return self._of_text(one)
        elif state == "sequence":
            self._state = "text" if "@" <= one <= "~" else "sequence"
        elif one >= "0":
            self._state = self._after_escape(one)
        return ""

    def _after_escape(self, one: str) -> _State:
        if one in _STRINGS:
            return "string"
        return "sequence" if one == _SEQUENCE else "text"

    def _of_text(self, one: str) -> str:
        if one == _ESCAPE:
            self._state = "escape"
        elif one == _C1_SEQUENCE:
            self._state = "sequence"
        elif one in _C1_STRINGS:
            self._state = "string"
        elif one == _RETURN:
            self._returned = True
        else:
            line = "\n" if self._returned and one != "\n" else ""
            self._returned = False
            return line + one
        return ""
