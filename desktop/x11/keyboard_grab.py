"""The active grab of the keyboard: the X server passes all keys to the client that has it.

Untrusted clients can grab the keyboard too. The server does not name the client.

A grab for a window that is not mapped always fails: with AlreadyGrabbed where a client has a grab,
and else with NotViewable. So it shows the grabs of others without an effect. A grab that succeeds
would take the focus from the focused window for a moment, and a field in it would seem to lose it.
Only in a *thorough* check, and while a client has grabbed the pointer, such a grab is made, as the
keyboard may be frozen.
"""

from concurrent.futures import Future
from pathlib import Path
from typing import Literal

import xcffib
import xcffib.xproto

from .connection import LOST, Connection, ConnectionThread, screen_of

Grab = Literal["none", "grabbed", "unknown"]
"""Whether a client has grabbed the keyboard; unknown while the server does not answer."""

SECONDS = 0.8
"""Time for the server to answer, so that a grab of the server is found within a second."""

_TAKEN = xcffib.xproto.GrabStatus.AlreadyGrabbed
_HELD = (_TAKEN, xcffib.xproto.GrabStatus.Frozen)
_ASYNC = xcffib.xproto.GrabMode.Async
_NOW = xcffib.xproto.Time.CurrentTime
_NONE = 0
"""No window that confines the pointer, and no cursor of its own."""


class KeyboardGrab(ConnectionThread):
    """Reads whether there is one on a display. One thread calls it; calls take `SECONDS` at most.

    The connection is that of the display's start: programs can use up those that a server accepts.
    """

    def __init__(self, display: str, xauthority: Path) -> None:
        super().__init__(display, xauthority, "keyboard")
        self._asked: Future[Grab] | None = None

    def read(self, *, thorough: bool = True) -> Grab:
        """Return whether a client has grabbed the keyboard; "unknown" once this is closed."""
        try:
            # A question that was not answered in time is still on its way.
            wait = SECONDS if self._asked is None else 0.0
            if self._asked is None:
                self._asked = self._thread.submit(self._read, thorough)
            found = self._asked.result(wait)
        except TimeoutError:
            return "unknown"
        except RuntimeError:
            # Closed, with its display.
            return "unknown"
        self._asked = None
        return found

    def _read(self, thorough: bool) -> Grab:
        try:
            return "grabbed" if is_grabbed(self._connection, thorough) else "none"
        except (xcffib.XcffibException, *LOST):
            return "unknown"


def is_grabbed(connection: Connection, thorough: bool) -> bool:
    """Return True if another client has grabbed the keyboard."""
    root = screen_of(connection).root
    hidden = connection.generate_id()
    kind = xcffib.xproto.WindowClass.InputOnly
    connection.core.CreateWindow(0, hidden, root, 0, 0, 1, 1, 0, kind, 0, 0, [])
    try:
        if _grab_keyboard(connection, hidden) == _TAKEN:
            return True
        return thorough and _is_frozen(connection, root, hidden)
    finally:
        connection.core.DestroyWindow(hidden)
        connection.flush()


def _is_frozen(connection: Connection, root: int, hidden: int) -> bool:
    pointer = connection.core.GrabPointer(False, hidden, 0, _ASYNC, _ASYNC, _NONE, _NONE, _NOW)
    if pointer.reply().status != _TAKEN:
        return False
    return _grab_keyboard(connection, root) in _HELD


def _grab_keyboard(connection: Connection, window: int) -> int:
    wanted = connection.core.GrabKeyboard(False, window, _NOW, _ASYNC, _ASYNC)
    # Sent at once: the server takes both requests before the next key.
    connection.core.UngrabKeyboard(_NOW)
    connection.flush()
    status: int = wanted.reply().status
    return status
