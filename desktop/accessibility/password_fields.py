"""When a password field had the keyboard, and what is told of a text that was typed into one."""

from collections import deque
from dataclasses import dataclass

from deskhand.desktop.errors import InvalidAction
from deskhand.desktop.input.keys import MODIFIERS, SHIFTS, Chord, chords
from deskhand.desktop.input.keysyms import KEYSYMS

REMEMBERED = 256
"""Widgets that had the keyboard, of which it is remembered when."""
TYPING = ("type", "key", "key_down", "key_up", "hold_key")
"""Actions whose text is what the keyboard gives."""

_FIRST_NAMELESS = 0xFE00
_UNICODE = range(0x01000100, 0x01110000)
_KEYPAD = range(KEYSYMS["KP_Multiply"], KEYSYMS["KP_9"] + 1)
_COMMANDS = MODIFIERS - SHIFTS - {KEYSYMS["ISO_Level3_Shift"]}
"""Held down, they make of a character a command."""


@dataclass
class _Stay:
    """A widget that has the keyboard, or had it."""

    widget: str
    since: float
    password: bool | None = None
    """None until it is known."""
    until: float | None = None

    def meets(self, start: float, end: float) -> bool:
        """Whether a password field had the keyboard between two times."""
        over = self.until is not None and self.until < start
        return bool(self.password) and self.since <= end and not over


class PasswordFocusHistory:
    """Which widgets have the keyboard in which application.

    Applications and widgets go by their names on the bus. Times are seconds, and only grow.
    """

    def __init__(self) -> None:
        self._now: dict[str, _Stay] = {}
        self._unknown: dict[tuple[str, str], _Stay] = {}
        self._past: deque[_Stay] = deque(maxlen=REMEMBERED)

    @property
    def known(self) -> bool:
        """Whether it is known of each widget what it is."""
        return not self._unknown

    @property
    def widgets(self) -> tuple[tuple[str, str], ...]:
        """Application and widget, of those that may have the keyboard."""
        return tuple((app, stay.widget) for app, stay in self._now.items() if stay.until is None)

    def focused(self, app: str, widget: str, now: float) -> None:
        """A widget got the keyboard; what it is will be said."""
        self._leave(app, now)
        self._now[app] = _Stay(widget, now)
        self._unknown[app, widget] = self._now[app]

    def described(self, app: str, widget: str, password: bool) -> None:
        """Say what a widget is."""
        stay = self._unknown.pop((app, widget), None)
        if stay is None:
            return
        stay.password = password

    def blurred(self, app: str, widget: str, now: float) -> None:
        """A widget lost the keyboard."""
        stay = self._now.get(app)
        if stay is not None and stay.widget == widget:
            self._leave(app, now)

    def activated(self, app: str, now: float) -> str | None:
        """A window got the keyboard; return the widget that has it again, if there is one."""
        stay = self._now.get(app)
        if stay is None or stay.until is None:
            return None
        self.focused(app, stay.widget, now)
        return stay.widget

    def deactivated(self, app: str, now: float) -> None:
        """The window of an application lost the keyboard."""
        self._leave(app, now)

    def gone(self, app: str, now: float) -> None:
        """An application ended."""
        self._leave(app, now)
        self._now.pop(app, None)
        self._unknown = {key: stay for key, stay in self._unknown.items() if key[0] != app}

    def password_between(self, start: float, end: float) -> bool:
        """Whether a password field had the keyboard at one of these times."""
        return any(stay.meets(start, end) for stay in (*self._past, *self._now.values()))

    def _leave(self, app: str, now: float) -> None:
        stay = self._now.get(app)
        if stay is None or stay.until is not None:
            return
        stay.until = now
        self._past.append(stay)


def counted(action: str, text: str) -> str:
    """What is told of a text that went into a password field; keys that type nothing are named."""
    if action == "type":
        return _number(len(text), "character")
    if action not in TYPING:
        return text
    try:
        struck = chords(text)
    except InvalidAction:
        return _number(len(text), "character")
    return _number(len(struck), "key") if any(map(_types, struck)) else text


def _types(chord: Chord) -> bool:
    if not _COMMANDS.isdisjoint(chord.held):
        return False
    return any(
        keysym < _FIRST_NAMELESS or keysym in _UNICODE or keysym in _KEYPAD
        for keysym in chord.keysyms
    )


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
