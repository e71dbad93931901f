"""Connections to an X server through xcffib."""

import os
import select
import threading
import time
from pathlib import Path
from typing import Any

import xcffib
import xcffib.xproto

from deskhand.desktop.errors import DisplayGone

# The bindings are generated and have no types worth the name.
Connection = Any

_open: Any = xcffib.Connection
_environment = threading.Lock()

LOST = (xcffib.ConnectionException, BrokenPipeError)
"""What a request raises when the server is gone."""


def connect(display: str, xauthority: Path) -> Connection:
    """Open a connection of one's own.

    Raises:
        DisplayGone: If nobody listens there, or the cookie is refused.
    """
    # libxcb finds the cookie only by this variable, and xcffib's own way to hand one over
    # frees the memory before libxcb reads it.
    with _environment:
        before = os.environ.get("XAUTHORITY")
        os.environ["XAUTHORITY"] = str(xauthority)
        try:
            return _open(display=display)
        except xcffib.ConnectionException as error:
            raise DisplayGone(display, "no connection") from error
        finally:
            if before is None:
                del os.environ["XAUTHORITY"]
            else:
                os.environ["XAUTHORITY"] = before


def screen_of(connection: Connection) -> Any:
    """The screen that a connection was opened to: its root window, its extent, its visual."""
    return connection.get_setup().roots[connection.pref_screen]


def has_extension(connection: Connection, name: bytes) -> bool:
    """Whether the server has an extension: a request of one that it lacks ends the connection."""
    return bool(connection.core.QueryExtension(len(name), name).reply().present)


def await_window_manager(display: str, xauthority: Path, timeout: float) -> bool:
    """Return whether a window manager has taken charge of the display in time.

    Raises:
        DisplayGone: If the server is lost meanwhile.
    """
    deadline = time.monotonic() + timeout
    connection = connect(display, xauthority)
    try:
        core = connection.core
        root = screen_of(connection).root
        name = b"_NET_SUPPORTING_WM_CHECK"
        check = core.InternAtom(False, len(name), name).reply().atom
        masks = [xcffib.xproto.EventMask.PropertyChange]
        core.ChangeWindowAttributes(root, xcffib.xproto.CW.EventMask, masks)
        while True:
            if len(core.GetProperty(False, root, check, 0, 0, 1).reply().value):
                return True
            if connection.poll_for_event() is not None:
                continue
            left = deadline - time.monotonic()
            readable = select.select([connection.get_file_descriptor()], [], [], max(0.0, left))[0]
            if not readable:
                return False
    except LOST as error:
        raise DisplayGone(display, "connection lost") from error
    finally:
        connection.disconnect()
