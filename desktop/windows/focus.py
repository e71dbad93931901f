"""Which window has the keyboard and where panels are, whatever becomes of the display."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import xcffib

from deskhand.desktop.errors import DisplayGone
from deskhand.desktop.geometry import Region
from deskhand.desktop.x11.connection import LOST, connect
from deskhand.desktop.x11.ewmh import WindowManager

from .focused import Focused

T = TypeVar("T")


class Focus:
    """Asks a display about its windows, on a connection of its own that opens when needed.

    ``where`` gives name and cookie file of the display that there is. Knowing no answer is no
    error: whoever acts hears of a lost display all the same. Any thread may call; one at a time.
    """

    def __init__(self, where: Callable[[], tuple[str, Path]]) -> None:
        self._where = where
        self._lock = threading.Lock()
        self._display = ""
        self._connection: Any = None
        self._manager: WindowManager

    def close(self) -> None:
        """Disconnect; twice is fine."""
        with self._lock:
            self._drop()

    def focused(self) -> Focused | None:
        """The active window; ``None`` if there is none, or nobody manages windows just now."""
        return self._told(self._active, None)

    def margins(self) -> tuple[Region, ...]:
        """The parts of the screen that belong to panels."""
        return self._told(lambda: self._manager.margins(), ())

    def _told(self, ask: Callable[[], T], otherwise: T) -> T:
        with self._lock:
            try:
                self._connect()
                return ask()
            except (DisplayGone, *LOST):
                self._drop()
            except xcffib.XcffibException:
                # The window went away between two questions.
                pass
            return otherwise

    def _connect(self) -> None:
        display, xauthority = self._where()
        if self._connection is not None and display == self._display:
            return
        self._drop()
        self._connection = connect(display, xauthority)
        self._display = display
        self._manager = WindowManager(self._connection)

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.disconnect()

    def _active(self) -> Focused | None:
        window = self._manager.active()
        return Focused(window, self._manager.title(window)) if window else None
