"""Waits until the window manager has passed on the clicks so far.

A window manager that gives the clicked window the focus grabs the pointer with each click, and
replays the click when it has handled it (XAllowEvents(3), ReplayPointer). Keys are not held back
meanwhile: one that follows a click at once would overtake it, and go to the field that had the
keyboard before. A window manager handles its events in their order, so an answer to a request that
came after a click shows that the click was replayed.
"""

import select
import time
from pathlib import Path
from typing import Any

import xcffib
import xcffib.xproto

from deskhand.desktop.x11.connection import connect
from deskhand.desktop.x11.ewmh import WindowManager

BUTTONS = range(1, 4)
"""Those that window managers grab: the others are notches of a wheel."""
LONGEST_SECONDS = 0.5
"""A window manager that takes longer replays no clicks either."""


class ClickDelivery:
    """Asks the window manager for the frame of a window that is never mapped.

    It has a connection of its own, whose events are answers. Errors of the connection are the
    caller's to handle.
    """

    def __init__(self, display: str, xauthority: Path) -> None:
        """Connect.

        Raises:
            DisplayGone: If there is no such display.
        """
        self._connection: Any = connect(display, xauthority)
        self._manager = WindowManager(self._connection)
        self._window = self._connection.generate_id()
        masks = xcffib.xproto.CW.EventMask, [xcffib.xproto.EventMask.PropertyChange]
        kind = xcffib.xproto.WindowClass.InputOutput
        self._connection.core.CreateWindow(
            *(0, self._window, self._manager.root, 0, 0, 1, 1, 0, kind, 0, *masks)
        )

    def close(self) -> None:
        """Disconnect; twice is fine."""
        self._connection.disconnect()

    def wait(self) -> None:
        """Block for `LONGEST_SECONDS` at most; for no time without a window manager of EWMH."""
        if not self._manager.answers_frames():
            return
        deadline = time.monotonic() + LONGEST_SECONDS
        while self._connection.poll_for_event() is not None:
            pass  # An answer that came too late.
        # The second answer comes after the events of the focus that the click has moved.
        for _ in range(2):
            self._manager.ask_frame(self._window)
            while not self._answered() and (left := deadline - time.monotonic()) > 0:
                select.select([self._connection.get_file_descriptor()], [], [], left)

    def _answered(self) -> bool:
        wanted = self._manager.atom("_NET_FRAME_EXTENTS")
        while (event := self._connection.poll_for_event()) is not None:
            if isinstance(event, xcffib.xproto.PropertyNotifyEvent) and event.atom == wanted:
                return True
        return False
