"""What the window manager tells (EWMH): which window has the keyboard, where panels are."""

import struct
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import xcffib
import xcffib.xproto

from .errors import DisplayGone
from .geometry import Region, Size, whole
from .outcomes import Focused
from .xconnection import LOST, connect

T = TypeVar("T")

_LONGEST_TITLE_WORDS = 256


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
        self._root = 0
        self._screen = whole(Size(1, 1))
        self._atoms: dict[str, int] = {}

    def close(self) -> None:
        """Disconnect; twice is fine."""
        with self._lock:
            self._drop()

    def focused(self) -> Focused | None:
        """The active window; ``None`` if there is none, or nobody manages windows just now."""
        return self._told(self._active, None)

    def margins(self) -> tuple[Region, ...]:
        """The parts of the screen that belong to panels."""
        return self._told(self._outside, ())

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
        setup = self._connection.get_setup()
        screen = setup.roots[self._connection.pref_screen]
        self._root = screen.root
        self._screen = whole(Size(screen.width_in_pixels, screen.height_in_pixels))

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        self._atoms.clear()
        if connection is not None:
            connection.disconnect()

    def _active(self) -> Focused | None:
        found = self._property(self._root, "_NET_ACTIVE_WINDOW", 1)
        window = int.from_bytes(found[:4], "little")
        if not window:
            return None
        title = self._property(window, "_NET_WM_NAME", _LONGEST_TITLE_WORDS)
        if title:
            return Focused(window, title.decode("utf-8", "ignore"))
        title = self._property(window, "WM_NAME", _LONGEST_TITLE_WORDS)
        return Focused(window, title.decode("latin-1"))

    def _outside(self) -> tuple[Region, ...]:
        found = self._property(self._root, "_NET_WORKAREA", 4)
        if len(found) < 16:
            return ()
        x, y, width, height = struct.unpack_from("<4I", found)
        screen = self._screen
        sides = (
            Region(screen.left, screen.top, screen.right, y),
            Region(screen.left, y + height, screen.right, screen.bottom),
            Region(screen.left, screen.top, x, screen.bottom),
            Region(x + width, screen.top, screen.right, screen.bottom),
        )
        return tuple(side for side in sides if not side.is_empty)

    def _property(self, window: int, name: str, words: int) -> bytes:
        anything = xcffib.xproto.GetPropertyType.Any
        core = self._connection.core
        asked = core.GetProperty(False, window, self._atom(name), anything, 0, words)
        found: bytes = asked.reply().value.raw
        return found

    def _atom(self, name: str) -> int:
        if name not in self._atoms:
            asked = self._connection.core.InternAtom(False, len(name), name)
            self._atoms[name] = asked.reply().atom
        return self._atoms[name]
