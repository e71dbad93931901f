"""The active grab of the keyboard: the X server passes all keys to the client that has it.

Untrusted clients can grab the keyboard too. The server does not name the client.
"""

from collections.abc import Callable
from pathlib import Path

import xcffib
import xcffib.xproto

from deskhand.desktop.errors import DisplayGone

from .connection import LOST, Connection, connect, screen_of

_HELD = (xcffib.xproto.GrabStatus.AlreadyGrabbed, xcffib.xproto.GrabStatus.Frozen)


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
    asynchronous = xcffib.xproto.GrabMode.Async
    now = xcffib.xproto.Time.CurrentTime
    window = screen_of(connection).root
    wanted = connection.core.GrabKeyboard(False, window, now, asynchronous, asynchronous)
    # Sent at once: the server takes both requests before the next key.
    connection.core.UngrabKeyboard(now)
    connection.flush()
    return wanted.reply().status in _HELD
