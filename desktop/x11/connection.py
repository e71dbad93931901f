"""Connections to an X server through xcffib."""

import os
import select
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import xcffib
import xcffib.xproto
from xcffib.ffi import ffi

from deskhand.desktop.errors import DisplayGone

# xcffib's bindings are generated and carry no useful types.
Connection = Any

_open: Any = xcffib.Connection
_environment = threading.Lock()

_TYPES = (
    *("struct xcb_extension_t *", "char[]", "int *", "xcb_protocol_request_t *"),
    *("struct iovec[4]", "xcb_generic_error_t **", "xcb_generic_reply_t *"),
    *("xcb_generic_event_t *", "xcb_void_cookie_t [1]"),
)
"""C types that xcffib names while it connects, sends and receives."""

LOST = (xcffib.ConnectionException, BrokenPipeError)
"""Errors of a request on a lost connection."""


def connect(display: str, xauthority: Path) -> Connection:
    """Open a new connection.

    Raises:
        DisplayGone: If no server listens there, or if it refuses the cookie.
    """
    # libxcb finds the cookie only by XAUTHORITY: xcffib's ``auth`` argument frees the memory
    # before libxcb reads it.
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


def interrupt(connection: Connection) -> None:
    """End a connection, also for a thread that waits for a reply: it gets an error of `LOST`."""
    with (
        suppress(OSError, *LOST),
        socket.socket(fileno=os.dup(connection.get_file_descriptor())) as end,
    ):
        end.shutdown(socket.SHUT_RDWR)


class ConnectionThread:
    """A connection that one thread uses: a server that does not answer blocks nobody else.

    It is made when this is entered.
    """

    def __init__(self, display: str, xauthority: Path, name: str) -> None:
        self._address = display, xauthority
        self._thread = ThreadPoolExecutor(1, name)
        self._connection: Connection = None

    def __enter__(self) -> Self:
        """Connect.

        Raises:
            DisplayGone: If there is no such display.
        """
        self._connection = connect(*self._address)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        # A server that another client has grabbed would not answer the thread.
        interrupt(self._connection)
        self._thread.shutdown()
        self._connection.disconnect()


def load_types() -> None:
    """Parse what the first connection would parse, which takes longer than ten connections."""
    for name in _TYPES:
        ffi.typeof(name)


def screen_of(connection: Connection) -> Any:
    """Return the screen of a connection, with its root window, size and visual."""
    return connection.get_setup().roots[connection.pref_screen]


def has_extension(connection: Connection, name: bytes) -> bool:
    """Return True if the server has an extension; a request of a missing one is fatal."""
    return bool(connection.core.QueryExtension(len(name), name).reply().present)


def await_window_manager(display: str, xauthority: Path, timeout: float) -> bool:
    """Wait for a window manager; return False if none has started in time.

    Raises:
        DisplayGone: If the server is lost meanwhile.
    """
    deadline = time.monotonic() + timeout
    connection = connect(display, xauthority)
    try:
        core = connection.core
        root = screen_of(connection).root
        # A window manager sets this property of the root window when it has started (EWMH).
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
