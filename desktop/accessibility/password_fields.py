"""Intervals in which password fields had the keyboard, and redaction of text typed into them."""

from collections import deque
from dataclasses import dataclass

from deskhand.desktop.errors import InvalidAction
from deskhand.desktop.input.keys import MODIFIERS, SHIFTS, Chord, chords
from deskhand.desktop.input.keysyms import KEYSYMS

REMEMBERED = 256
"""Number of past intervals, and of intervals of unknown role, that are kept."""
TYPING = ("type", "key", "key_down", "key_up", "hold_key")
"""Actions whose ``text`` reaches the focused widget as key events."""

# Keysyms below this one are characters of legacy sets; function keys lie above (keysymdef.h).
_FIRST_NAMELESS = 0xFE00
_UNICODE = range(0x01000100, 0x01110000)
_KEYPAD = range(KEYSYMS["KP_Multiply"], KEYSYMS["KP_9"] + 1)
_COMMANDS = MODIFIERS - SHIFTS - {KEYSYMS["ISO_Level3_Shift"]}
"""Modifiers that turn a character into a keyboard shortcut."""


@dataclass
class _FocusInterval:
    """Time during which a widget had the keyboard focus."""

    widget: str
    start: float
    password: bool | None = None
    """None until the role of the widget is known."""
    end: float | None = None

    def overlaps(self, start: float, end: float) -> bool:
        """Return True if this is a password field that had the focus between two times."""
        over = self.end is not None and self.end < start
        return bool(self.password) and self.start <= end and not over


class PasswordFocusHistory:
    """Focused widget of each application, and past intervals of focus.

    Applications are identified by bus names, widgets by object paths. Times are seconds on a
    monotonic clock. A widget keeps its entry while its window is inactive, because activating the
    window returns the focus to it without a focus event.
    """

    def __init__(self) -> None:
        self._current: dict[str, _FocusInterval] = {}
        self._unknown: dict[tuple[str, str], _FocusInterval] = {}
        self._ended: deque[_FocusInterval] = deque(maxlen=REMEMBERED)

    @property
    def known(self) -> bool:
        """True if the roles of all widgets are known."""
        return not self._unknown

    @property
    def widgets(self) -> tuple[tuple[str, str], ...]:
        """Application and widget of those that may have the keyboard."""
        return tuple(
            (app, interval.widget)
            for app, interval in self._current.items()
            if interval.end is None
        )

    def focused(self, app: str, widget: str, now: float) -> None:
        """Record that a widget got the focus; its role is unknown until ``described``."""
        self._end_interval(app, now)
        self._current[app] = _FocusInterval(widget, now)
        self._unknown[app, widget] = self._current[app]
        if len(self._unknown) > REMEMBERED:
            # An application that names widgets without end does not answer for their roles.
            self._unknown.pop(next(iter(self._unknown))).password = True

    def described(self, app: str, widget: str, password: bool) -> None:
        """Record if a widget is a password field."""
        interval = self._unknown.pop((app, widget), None)
        if interval is None:
            return
        interval.password = password

    def blurred(self, app: str, widget: str, now: float) -> None:
        """Record that a widget lost the focus."""
        interval = self._current.get(app)
        if interval is not None and interval.widget == widget:
            self._end_interval(app, now)

    def activated(self, app: str, now: float) -> str | None:
        """Record that a window became active; return the widget that regains the focus, if any."""
        interval = self._current.get(app)
        if interval is None or interval.end is None:
            return None
        self.focused(app, interval.widget, now)
        return interval.widget

    def deactivated(self, app: str, now: float) -> None:
        """Record that the window of an application became inactive."""
        self._end_interval(app, now)

    def gone(self, app: str, now: float) -> None:
        """Forget an application that has left the bus."""
        self._end_interval(app, now)
        self._current.pop(app, None)
        self._unknown = {key: interval for key, interval in self._unknown.items() if key[0] != app}

    def password_between(self, start: float, end: float) -> bool:
        """Return True if a password field had the focus at any time of the interval."""
        return any(
            interval.overlaps(start, end) for interval in (*self._ended, *self._current.values())
        )

    def _end_interval(self, app: str, now: float) -> None:
        interval = self._current.get(app)
        if interval is None or interval.end is not None:
            return
        # An ended interval stays in `_unknown`, so that a role which arrives later still applies to
        # it.
        interval.end = now
        self._ended.append(interval)


def text_length(action: str, text: str) -> str:
    """Return the length of a text that went into a password field, in words.

    Chords that enter no character, such as ``ctrl+a`` or ``Return``, are returned as they are.
    """
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


def _number(count: int, unit: str) -> str:
    return f"{count} {unit}" if count == 1 else f"{count} {unit}s"
