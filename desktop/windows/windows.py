"""Lists and arranges the windows of one display.

The window manager carries out requests asynchronously or ignores them (EWMH). Every request
therefore waits for property changes of the window until the state is as requested, for a second
at most, and returns the state that the window has then.
"""

import select
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import xcffib.xproto

from deskhand.desktop.errors import DisplayGone, UnknownWindow
from deskhand.desktop.geometry import Region
from deskhand.desktop.x11.connection import LOST, connect
from deskhand.desktop.x11.ewmh import ClientWindow, WindowManager

WindowAction = Literal["focus", "close", "maximize", "minimize", "restore"]

_MASKS = xcffib.xproto.EventMask
_STEP = 32
"""Tolerance in pixels: WM_NORMAL_HINTS rounds sizes, as to whole characters of a terminal."""
_REACTION_SECONDS = 1.0
"""Time for the window manager to carry out a request."""


class X11Windows:
    """Lists and arranges windows, on a connection of its own.

    Methods may be called from any thread; they run one at a time.
    """

    def __init__(self, display: str, xauthority: Path) -> None:
        self._display = display
        self._xauthority = xauthority
        self._lock = threading.Lock()
        self._connection: Any = None

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def open(self) -> None:
        """Connect.

        Raises:
            DisplayGone: If there is no such display.
        """
        self._connection = connect(self._display, self._xauthority)
        self._manager = WindowManager(self._connection)

    def close(self) -> None:
        """Disconnect; twice is fine."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.disconnect()

    def all(self) -> list[ClientWindow]:
        """Return the windows of applications, the oldest first."""
        with self._requests():
            found = (self._manager.window(window) for window in self._manager.listed())
            return [window for window in found if window is not None]

    def apply(self, window: int, action: WindowAction) -> ClientWindow | None:
        """Request an action on a window; return its state afterwards, None if it has closed.

        Raises:
            UnknownWindow: If there is no such window.
        """
        manager = self._manager
        match action:
            case "focus":
                return self._request(
                    window, manager.focus, lambda now: now.focused and not now.minimized
                )
            case "close":
                # The window may ask a question before it closes, and may stay: only its end ends
                # the wait.
                return self._request(window, manager.close, lambda now: False)
            case "maximize":
                # Openbox sets _NET_WM_STATE before it resizes the window, and resizes it before it
                # removes the borders.
                return self._request(
                    window, manager.maximize, lambda now: now.maximized and self._fits(now.region)
                )
            case "minimize":
                # Openbox sets _NET_WM_STATE before it moves the focus to another window.
                return self._request(
                    window, manager.minimize, lambda now: now.minimized and not now.focused
                )
            case "restore":
                return self._request(
                    window,
                    self._restore,
                    lambda now: now.focused and not (now.maximized or now.minimized),
                )

    def place(self, window: int, region: Region) -> ClientWindow | None:
        """Move and resize a window, including its frame, to that region in native pixels.

        Raises:
            UnknownWindow: If there is no such window.
        """

        def place(window: int) -> None:
            # Openbox keeps the size of a maximized window, whatever is requested.
            self._manager.maximize(window, False)
            self._manager.place(window, region)

        return self._request(window, place, lambda now: _near(now.region, region))

    def _restore(self, window: int) -> None:
        self._manager.maximize(window, False)
        self._manager.focus(window)

    def _request(
        self, window: int, send: Callable[[int], None], done: Callable[[ClientWindow], bool]
    ) -> ClientWindow | None:
        with self._requests():
            if window not in self._manager.listed():
                raise UnknownWindow(window)
            # Selected before the request is sent, so that the reaction to it cannot be missed.
            self._manager.listen(self._manager.root, _MASKS.PropertyChange)
            self._manager.listen(window, _MASKS.PropertyChange | _MASKS.StructureNotify)
            try:
                send(window)
                deadline = time.monotonic() + _REACTION_SECONDS
                while True:
                    now = None
                    if window in self._manager.listed():
                        now = self._manager.window(window)
                    if now is None or done(now) or not self._event(deadline):
                        return now
            finally:
                # Events of later changes would otherwise pile up in the connection, which is read
                # here only.
                self._manager.listen(self._manager.root, 0)
                self._manager.listen(window, 0)

    def _fits(self, region: Region) -> bool:
        across = (region.left, region.right)
        return region.top >= 0 and across == (0, self._manager.screen.right)

    def _event(self, deadline: float) -> bool:
        """Wait for an event; return False at the deadline."""
        while self._connection.poll_for_event() is None:
            left = deadline - time.monotonic()
            descriptor = self._connection.get_file_descriptor()
            if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                return False
        # One request changes several properties; the caller reads the state once for all of them.
        while self._connection.poll_for_event() is not None:
            pass
        return True

    @contextmanager
    def _requests(self) -> Iterator[None]:
        with self._lock:
            if self._connection is None:
                raise DisplayGone(self._display, "closed")
            try:
                yield
            except LOST as error:
                raise DisplayGone(self._display, "connection lost") from error


def _near(now: Region, wanted: Region) -> bool:
    if (now.left, now.top) != (wanted.left, wanted.top):
        return False
    return all(abs(a - b) < _STEP for a, b in zip(now.size, wanted.size, strict=True))
