"""The active grab of the keyboard: the X server passes all keys to the client that has it.

Untrusted clients can grab the keyboard too. The server does not name the client.

A grab for a window that is not mapped always fails: with AlreadyGrabbed where a client has a grab,
and else with NotViewable. So it shows the grabs of others without an effect. A grab that succeeds
would take the focus from the focused window for a moment, and a field in it would seem to lose it.
Only while a client has grabbed the pointer, such a grab is made, as the keyboard may be frozen.
"""

from collections.abc import Callable
from pathlib import Path

import xcffib
import xcffib.xproto

from deskhand.desktop.errors import DisplayGone

from .connection import LOST, Connection, connect, screen_of

_TAKEN = xcffib.xproto.GrabStatus.AlreadyGrabbed
_HELD = (_TAKEN, xcffib.xproto.GrabStatus.Frozen)
_ASYNC = xcffib.xproto.GrabMode.Async
_NOW = xcffib.xproto.Time.CurrentTime
_NONE = 0
"""No window that confines the pointer, and no cursor of its own."""


class KeyboardGrab:
    """Reads whether there is one on the display of now. Any thread may call it; calls block.

    ``where`` returns name and cookie file of the display.
    """

    def __init__(self, where: Callable[[], tuple[str, Path]]) -> None:
        self._where = where

    def held(self) -> bool:
        """Return whether a client has grabbed the keyboard; False without a display."""
        try:
            connection = connect(*self._where())
        except DisplayGone:
            return False
        try:
            return _is_grabbed(connection)
        except (xcffib.XcffibException, *LOST):
            return False
        finally:
            connection.disconnect()


def _is_grabbed(connection: Connection) -> bool:
    root = screen_of(connection).root
    hidden = connection.generate_id()
    kind = xcffib.xproto.WindowClass.InputOnly
    connection.core.CreateWindow(0, hidden, root, 0, 0, 1, 1, 0, kind, 0, 0, [])
    if _grab_keyboard(connection, hidden) == _TAKEN:
        return True
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
