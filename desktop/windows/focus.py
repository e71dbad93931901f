"""Active window and panel areas of the display, across restarts of the X server."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import xcffib

from deskhand.desktop.errors import DisplayGone
from deskhand.desktop.geometry import Region
from deskhand.desktop.x11.connection import LOST, connect
from deskhand.desktop.x11.ewmh import WindowManager
from deskhand.desktop.x11.keyboard_grab import is_grabbed

from .focused import Focused, hint_of, is_chooser

ResultT = TypeVar("ResultT")


class Focus:
    """Queries the window manager on a connection of its own, opened on first use.

    ``where`` returns name and cookie file of the current display. A query that fails returns an
    empty result, because the action that follows it reports a lost display anyway. Methods may be
    called from any thread; they run one at a time.
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
        """Return the active window; None if there is none, or no window manager runs."""
        return self._query(self._active, None)

    def nothing_focused(self) -> bool:
        """Return True if no client would get a key: none has the focus, or grabs the keyboard."""
        return self._query(
            lambda: (
                not self._manager.keys_reach_a_client()
                and not is_grabbed(self._connection, thorough=False)
            ),
            False,
        )

    def margins(self) -> tuple[Region, ...]:
        """Return the parts of the screen that panels reserve."""
        return self._query(lambda: self._manager.margins(), ())

    def _query(self, query: Callable[[], ResultT], otherwise: ResultT) -> ResultT:
        with self._lock:
            try:
                self._connect()
                return query()
            except (DisplayGone, *LOST):
                self._drop()
            except xcffib.XcffibException:
                # The window was destroyed between two requests.
                pass
            return otherwise

    def _connect(self) -> None:
        display, xauthority = self._where()
        # After a restart the name differs, or the old connection raises LOST and is dropped.
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
        active = self._manager.active()
        if not active:
            return None
        title = self._manager.title(active)
        # The class is another request, for windows whose title does not tell.
        window = self._manager.window(active) if is_chooser(title) else None
        return Focused(active, title, hint_of(title, window.name) if window else "")
