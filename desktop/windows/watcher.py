"""Publishes windows of one display that open, close or get the focus.

The watcher selects PropertyNotify on the root window and compares ``_NET_CLIENT_LIST`` and
``_NET_ACTIVE_WINDOW`` with their last values. Windows are described while they exist, so that an
event about a closed window can still name it.
"""

import os
import select
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import xcffib
import xcffib.xproto

from deskhand.desktop.errors import DisplayGone
from deskhand.desktop.x11.connection import LOST, connect
from deskhand.desktop.x11.ewmh import ClientWindow, WindowManager


class WindowWatch:
    """Publishes window events from a thread of its own."""

    def __init__(
        self, display: str, xauthority: Path, publish: Callable[[str, dict[str, Any]], object]
    ) -> None:
        self._display = display
        self._xauthority = xauthority
        self._publish = publish
        self._thread = threading.Thread(target=self._run, name="windows", daemon=True)
        self._known: dict[int, ClientWindow] = {}
        self._active = 0
        self._connection: Any = None
        self._wake = -1

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
        """Connect and start the thread.

        Raises:
            DisplayGone: If there is no such display.
        """
        self._connection = connect(self._display, self._xauthority)
        self._wake = os.eventfd(0)
        self._manager = WindowManager(self._connection)
        try:
            self._manager.listen(self._manager.root, xcffib.xproto.EventMask.PropertyChange)
            self._update()
        except LOST as error:
            self._connection.disconnect()
            os.close(self._wake)
            raise DisplayGone(self._display, "connection lost") from error
        self._thread.start()

    def close(self) -> None:
        """End the thread and disconnect; twice is fine."""
        if self._wake < 0:
            return
        os.eventfd_write(self._wake, 1)
        self._thread.join()
        self._connection.disconnect()
        os.close(self._wake)
        self._wake = -1

    def _run(self) -> None:
        sources = [self._connection.get_file_descriptor(), self._wake]
        # A lost display ends the thread silently, as its owner notices the loss itself.
        with suppress(*LOST, xcffib.XcffibException):
            while True:
                changed = False
                # Events are read before select(2): a round trip of `_update` may already have taken
                # them from the socket. One update serves all of them.
                while self._connection.poll_for_event() is not None:
                    changed = True
                if changed:
                    self._update()
                elif self._wake in select.select(sources, [], [])[0]:
                    return

    def _update(self) -> None:
        listed = self._manager.listed()
        for gone in [window for window in self._known if window not in listed]:
            self._publish("window_closed", _described(self._known.pop(gone)))
            if gone == self._active:
                # The server may reuse the id for the next window.
                self._active = 0
        for identifier in listed:
            if identifier in self._known:
                continue
            window = self._manager.window(identifier)
            if window is not None:
                self._known[identifier] = window
                self._publish("window_opened", _described(window))
                if window.dialog:
                    self._publish("dialog_opened", _described(window))
        active = self._manager.active()
        # The window manager may activate a window before it lists it; the list's own
        # PropertyNotify triggers another update.
        if active == self._active or active not in (0, *self._known):
            return
        self._active = active
        window = self._manager.window(active) if active else None
        if window is not None:
            self._publish("window_focused", _described(window))


def _described(window: ClientWindow) -> dict[str, Any]:
    return {"id": window.id, "title": window.title, "class": window.name, "pid": window.pid}
