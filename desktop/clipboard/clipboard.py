"""The clipboard of one display, for callers in any thread."""

import os
import queue
import select
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import xcffib

from deskhand.desktop.errors import ClipboardFailed, DisplayGone
from deskhand.desktop.x11.connection import LOST, connect
from deskhand.desktop.x11.selection import Content, Kind, Selection


@dataclass(frozen=True)
class _Order:
    work: Callable[[], Any]
    answer: "Future[Any]"


class X11Clipboard:
    """Reads and owns the clipboard from a thread with a connection of its own."""

    def __init__(self, display: str, xauthority: Path) -> None:
        self._display = display
        self._xauthority = xauthority
        self._thread = threading.Thread(target=self._run, name="clipboard", daemon=True)
        self._orders: queue.SimpleQueue[_Order | None] = queue.SimpleQueue()
        self._door = threading.Lock()
        self._ended = True
        self._connection: Any = None
        self._wake_read, self._wake_write = -1, -1
        self._before: Content | None = None
        self._due: float | None = None

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
        try:
            self._selection = Selection(self._connection)
        except LOST as error:
            self._connection.disconnect()
            raise DisplayGone(self._display, "connection lost") from error
        self._wake_read, self._wake_write = os.pipe()
        self._ended = False
        self._thread.start()

    def close(self) -> None:
        """Give the clipboard up and disconnect; twice is fine."""
        if self._wake_write < 0:
            return
        self._send(None)
        self._thread.join()
        self._connection.disconnect()
        os.close(self._wake_read)
        os.close(self._wake_write)
        self._wake_read, self._wake_write = -1, -1

    def get(self, kinds: tuple[Kind, ...] = ("text/plain", "image/png")) -> Content | None:
        """What was copied last, in the first of these forms that it has; None if in none.

        Raises:
            ClipboardFailed: If its owner does not hand it over.
            DisplayGone: When the display is lost.
        """
        found: Content | None = self._ask(lambda: self._selection.read(kinds))
        return found

    def put(self, content: Content, restore_after: float | None = None) -> None:
        """Copy; what was there before is kept for ``restore``, which may come by itself.

        After ``restore_after`` seconds, it does so unless something else was copied meanwhile.

        Raises:
            ClipboardFailed: If another program copied at the same moment.
            DisplayGone: When the display is lost.
        """
        self._ask(lambda: self._replace(content, restore_after))

    def restore(self) -> bool:
        """Copy again what was there before the last ``put``; False if nothing is kept.

        Raises:
            ClipboardFailed: If another program copied at the same moment.
            DisplayGone: When the display is lost.
        """
        return bool(self._ask(self._bring_back))

    def _replace(self, content: Content, restore_after: float | None) -> None:
        self._before, self._due = None, None
        # One that does not hand over what it copied does not keep others from copying.
        with suppress(ClipboardFailed):
            self._before = self._selection.read(("text/plain", "image/png"))
        self._selection.own(content)
        if restore_after is not None:
            self._due = time.monotonic() + restore_after

    def _restore_by_itself(self) -> None:
        if self._selection.owned is not None and not self._bring_back():
            self._selection.disown()
        self._due = None

    def _bring_back(self) -> bool:
        before, self._before, self._due = self._before, None, None
        if before is None:
            return False
        self._selection.own(before)
        return True

    def _ask(self, work: Callable[[], Any]) -> Any:
        answer: Future[Any] = Future()
        self._send(_Order(work, answer))
        try:
            return answer.result()
        except CancelledError as error:
            raise DisplayGone(self._display, "connection lost") from error

    def _send(self, order: _Order | None) -> None:
        with self._door:
            if not self._ended:
                self._orders.put(order)
                os.write(self._wake_write, b"!")
            elif order is not None:
                order.answer.cancel()

    def _run(self) -> None:
        try:
            while self._serve():
                pass
        except LOST:
            # Whoever opened us notices that the display is gone.
            pass
        finally:
            with self._door:
                self._ended = True
            while not self._orders.empty():
                order = self._orders.get()
                if order is not None:
                    order.answer.cancel()

    def _serve(self) -> bool:
        """Do what has come meanwhile, then wait; False at the end."""
        self._selection.handle_pending()
        while not self._orders.empty():
            order = self._orders.get()
            if order is None:
                return False
            try:
                order.answer.set_result(order.work())
            except ClipboardFailed as error:
                order.answer.set_exception(error)
            except xcffib.ProtocolException as error:
                order.answer.set_exception(ClipboardFailed(repr(error)))
            finally:
                order.answer.cancel()
            self._selection.handle_pending()
        left = None if self._due is None else self._due - time.monotonic()
        if left is not None and left <= 0:
            with suppress(ClipboardFailed):
                self._restore_by_itself()
            return True
        sources = [self._connection.get_file_descriptor(), self._wake_read]
        if self._wake_read in select.select(sources, [], [], left)[0]:
            os.read(self._wake_read, 4096)
        return True
