"""The windows of one display, listed and arranged."""

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
from deskhand.desktop.x11.ewmh import Window, WindowManager

Wish = Literal["focus", "close", "maximize", "minimize", "restore"]

_MASKS = xcffib.xproto.EventMask
_STEP = 32
"""Pixels by which a window's own rules may make its size another: whole characters, mostly."""
_HEEDED_SECONDS = 1.0
"""How long an answer waits for the window manager to do what it was asked."""


class Windows:
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

    def all(self) -> list[Window]:
        """The windows of applications, the oldest first."""
        with self._requests():
            found = (self._manager.window(window) for window in self._manager.listed())
            return [window for window in found if window is not None]

    def wish(self, window: int, wish: Wish) -> Window | None:
        """Have something done to a window; return how it is then, None when it is gone.

        Raises:
            UnknownWindow: If there is no such window.
        """
        manager = self._manager
        match wish:
            case "focus":
                return self._asked(
                    window, manager.focus, lambda now: now.focused and not now.minimized
                )
            case "close":
                return self._asked(window, manager.close, lambda now: False)
            case "maximize":
                # Its state is told before its size, and that before its borders are gone.
                return self._asked(
                    window, manager.maximize, lambda now: now.maximized and self._fits(now.region)
                )
            case "minimize":
                # Its state is told before another window has the keyboard.
                return self._asked(
                    window, manager.minimize, lambda now: now.minimized and not now.focused
                )
            case "restore":
                return self._asked(
                    window,
                    self._restore,
                    lambda now: now.focused and not (now.maximized or now.minimized),
                )

    def place(self, window: int, region: Region) -> Window | None:
        """Give a window, with its frame, that place in native pixels.

        Raises:
            UnknownWindow: If there is no such window.
        """

        def place(window: int) -> None:
            self._manager.maximize(window, False)
            self._manager.place(window, region)

        return self._asked(window, place, lambda now: _near(now.region, region))

    def _restore(self, window: int) -> None:
        self._manager.maximize(window, False)
        self._manager.focus(window)

    def _asked(
        self, window: int, ask: Callable[[int], None], heeded: Callable[[Window], bool]
    ) -> Window | None:
        with self._requests():
            if window not in self._manager.listed():
                raise UnknownWindow(window)
            self._manager.listen(self._manager.root, _MASKS.PropertyChange)
            self._manager.listen(window, _MASKS.PropertyChange | _MASKS.StructureNotify)
            try:
                ask(window)
                deadline = time.monotonic() + _HEEDED_SECONDS
                while True:
                    now = None
                    if window in self._manager.listed():
                        now = self._manager.window(window)
                    if now is None or heeded(now) or not self._event(deadline):
                        return now
            finally:
                self._manager.listen(self._manager.root, 0)
                self._manager.listen(window, 0)

    def _fits(self, region: Region) -> bool:
        across = (region.left, region.right)
        return region.top >= 0 and across == (0, self._manager.screen.right)

    def _event(self, deadline: float) -> bool:
        """Wait for something to happen; False when it is too late."""
        while self._connection.poll_for_event() is None:
            left = deadline - time.monotonic()
            descriptor = self._connection.get_file_descriptor()
            if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                return False
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
