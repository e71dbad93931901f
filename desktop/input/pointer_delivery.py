"""Waits until programs have taken what the pointer did, before the next event overtakes it.

*Clicks.* A window manager that gives the clicked window the focus grabs the pointer with each
click, and replays the click when it has handled it (XAllowEvents(3), ReplayPointer). Keys are not
held back meanwhile: one that follows a click at once would overtake it, and go to the field that
had the keyboard before. A window manager handles its events in their order, so an answer to a
request that came after a click shows that the click was replayed.

*Drags.* A program notices in its own time that the pointer moves with a button down, and then
begins a drag (XDND): it becomes the owner of the selection ``XdndSelection`` and grabs the pointer.
A release that comes before ends no drag; one that follows at once may come before the target has
agreed to a drop (XdndStatus), and cancels the drag. A new owner of the selection is an event
(XFIXES). If the program begins no drag, as with a slider, only its processes show that it has
handled the motion.
"""

import select
import time
from pathlib import Path
from typing import Any

import xcffib
import xcffib.xfixes
import xcffib.xproto
import xcffib.xtest

from deskhand.desktop.geometry import Point
from deskhand.desktop.x11.client_processes import ClientProcesses
from deskhand.desktop.x11.connection import connect
from deskhand.desktop.x11.ewmh import WindowManager

from .client_idle import ClientIdle, ClientProcess

BUTTONS = range(1, 4)
"""Buttons that window managers grab: the others are notches of a wheel."""
LONGEST_SECONDS = 0.5
"""A window manager that takes longer replays no clicks either."""
TAKING_SECONDS, LEAST_SECONDS = 1.5, 0.1
"""For all waits of one press until a drag is taken, and for each of them. A program that is busy
for longer, as with an animation, has handled the motion before."""
ANSWER_SECONDS = 3.0
"""For the target of a drag."""
MOTION = 6
"""Number of the event MotionNotify (X11 protocol, appendix B)."""
# A program grabs the pointer just after it has taken a drag, in the time of so many motions.
_MOTIONS_TAKEN = 2


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


class DragDelivery:
    """Follows one press of a button. Errors of the connection are the caller's to handle."""

    def __init__(
        self, display: str, xauthority: Path, processes: ClientProcesses | None = None
    ) -> None:
        """Connect.

        Raises:
            DisplayGone: If there is no such display.
        """
        self._connection: Any = connect(display, xauthority)
        manager = WindowManager(self._connection)
        self._root = manager.root
        self._idle = ClientIdle(self._connection, processes)
        self._source: ClientProcess | None = None
        self._taken = False
        self._motions_taken = 0
        self._to: Point | None = None
        self._left = 0.0
        self._xtest = self._connection(xcffib.xtest.key)
        fixes = self._connection(xcffib.xfixes.key)
        # The server demands that a client names its version first (XFIXES, 4).
        fixes.QueryVersion(1, 0).reply()
        mask = xcffib.xfixes.SelectionEventMask.SetSelectionOwner
        fixes.SelectSelectionInput(self._root, manager.atom("XdndSelection"), mask)

    def close(self) -> None:
        """Disconnect; twice is fine."""
        self._connection.disconnect()

    def press(self) -> None:
        """Forget the drag of the press before."""
        self._source = self._to = None

    def move(self, to: Point, held: bool) -> None:
        """Note where the pointer is about to move; ``held`` if a button is down."""
        if not held:
            return
        if self._source is None:
            self._source = self._below()
            self._is_taken()
            self._taken, self._motions_taken, self._left = False, 0, TAKING_SECONDS
        self._to = to
        self._motions_taken += self._is_taken()

    def wait_taken(self) -> bool:
        """Wait until the program has taken the drag; False if it has handled the motion without.

        No wait follows another without a motion between them.
        """
        if self._to is not None and not self._is_taken() and self._source is not None:
            began = time.monotonic()
            self._idle.wait_for_families(
                [self._source], began + max(self._left, LEAST_SECONDS), self._is_taken
            )
            self._left -= time.monotonic() - began
        return self._is_taken()

    def wait_answered(self) -> None:
        """Wait until the target of a drag that was taken has answered where the pointer is."""
        taken, to, self._to = self.wait_taken(), self._to, None
        if to is None or not taken:
            return
        if self._motions_taken < _MOTIONS_TAKEN:
            self._wait_answered()
        # The program may have read the last motion before it grabbed the pointer.
        for x in (to.x - 1 if to.x else 1, to.x):
            self._xtest.FakeInput(MOTION, 0, 0, self._root, x, to.y, 0)
        self._wait_answered()

    def _wait_answered(self) -> None:
        clients = [one for one in (self._source, self._below()) if one is not None]
        deadline = time.monotonic() + ANSWER_SECONDS
        self._idle.wait_for_families(clients, deadline, lambda: False)

    def _is_taken(self) -> bool:
        while (event := self._connection.poll_for_event()) is not None:
            if isinstance(event, xcffib.xfixes.SelectionNotifyEvent) and event.owner:
                self._taken = True
        return self._taken

    def _below(self) -> ClientProcess | None:
        """Return the client of the innermost window below the pointer."""
        window = found = self._root
        while found:
            window = found
            try:
                found = self._connection.core.QueryPointer(window).reply().child
            except xcffib.xproto.WindowError:
                return None  # It has just been closed.
        return self._idle.client(window)
