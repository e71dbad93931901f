"""Clipboard of one display, for callers in any thread.

The thread owns the X connection and serves two sources with one select(2): the connection, where
other clients request the owned content, and a pipe that announces tasks of callers.
"""

import asyncio
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

from deskhand.desktop.errors import ClipboardFailed, DesktopError, DisplayGone
from deskhand.desktop.x11.connection import LOST, connect
from deskhand.desktop.x11.selection import CLIPBOARD, Content, Kind, Selection

_State = tuple[Content | None, Content | None, float | None]
"""The content that is owned, the one that would be restored, and the time of that."""


@dataclass(frozen=True)
class _Task:
    run: Callable[[], Any]
    result: "Future[Any]"


class X11Clipboard:
    """Reads and owns the clipboard in a thread with a connection of its own.

    ``copied`` is called in that thread when a program of the display has copied.
    """

    def __init__(
        self, display: str, xauthority: Path, copied: Callable[[], object] | None = None
    ) -> None:
        self._display = display
        self._xauthority = xauthority
        self._copied = copied
        self._thread = threading.Thread(target=self._run, name="clipboard", daemon=True)
        self._tasks: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._ended = True
        self._connection: Any = None
        self._wake = -1
        self._saved: Content | None = None
        self._due: float | None = None
        self._remembered: _State = (None, None, None)

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
            if self._copied is not None:
                self._selection.watch_owners(CLIPBOARD)
        except LOST as error:
            self._connection.disconnect()
            raise DisplayGone(self._display, "connection lost") from error
        self._wake = os.eventfd(0)
        self._ended = False
        self._thread.start()

    def close(self) -> None:
        """Give up ownership of the selection and disconnect; twice is fine."""
        if self._wake < 0:
            return
        self._send(None)
        self._thread.join()
        self._connection.disconnect()
        os.close(self._wake)
        self._wake = -1

    def get(self, kinds: tuple[Kind, ...] = ("text/plain", "image/png")) -> Content | None:
        """Return the content in the first of these types that is offered; None if none is.

        Raises:
            ClipboardFailed: If the selection owner does not answer in time.
            DisplayGone: When the display is lost.
        """
        found: Content | None = self._run_in_thread(lambda: self._selection.read(kinds))
        return found

    def put(self, content: Content, restore_after: float | None = None) -> None:
        """Copy a content, and save the previous one for ``restore``.

        After ``restore_after`` seconds it is restored, unless another client copied meanwhile.

        Raises:
            ClipboardFailed: If another program copied at the same moment.
            DisplayGone: When the display is lost.
        """
        self._run_in_thread(lambda: self._replace(content, restore_after))

    def restore(self) -> bool:
        """Copy the content again that the last ``put`` replaced; return False if none is saved.

        Raises:
            ClipboardFailed: If another program copied at the same moment.
            DisplayGone: When the display is lost.
        """
        return bool(self._run_in_thread(self._restore_saved))

    def remember(self) -> None:
        """Note the content that is owned, and the one to restore; does not block."""
        self._remembered = (self._selection.owned, self._saved, self._due)

    def recall(self) -> None:
        """Bring back what was noted, before later calls are answered; does not block."""
        state, self._remembered = self._remembered, (None, None, None)
        self._send(_Task(lambda: self._bring_back(*state), Future()))

    def _bring_back(self, owned: Content | None, saved: Content | None, due: float | None) -> None:
        self._saved, self._due = saved, due
        if owned is None:
            self._selection.disown()
        elif self._selection.owned != owned:
            self._selection.own(owned)

    def _replace(self, content: Content, restore_after: float | None) -> None:
        # If the content cannot be read now, an older saved one must not come back instead.
        self._saved, self._due = None, None
        # A selection owner that does not answer must not prevent copying.
        with suppress(ClipboardFailed):
            self._saved = self._selection.read(("text/plain", "image/png"))
        self._selection.own(content)
        if restore_after is not None:
            self._due = time.monotonic() + restore_after

    def _restore_when_due(self) -> None:
        # Another client that copied meanwhile keeps the clipboard. With nothing saved there is
        # nothing to bring back, so the clipboard is emptied.
        if self._selection.owned is not None and not self._restore_saved():
            self._selection.disown()
        self._due = None

    def _restore_saved(self) -> bool:
        saved, self._saved, self._due = self._saved, None, None
        if saved is None:
            return False
        self._selection.own(saved)
        return True

    def _run_in_thread(self, run: Callable[[], Any]) -> Any:
        result: Future[Any] = Future()
        self._send(_Task(run, result))
        try:
            return result.result()
        except CancelledError as error:
            raise DisplayGone(self._display, "connection lost") from error

    def _send(self, task: _Task | None) -> None:
        # The lock orders this against the end of the thread, which would leave a later task
        # without a result.
        with self._lock:
            if not self._ended:
                self._tasks.put(task)
                os.eventfd_write(self._wake, 1)
            elif task is not None:
                task.result.cancel()

    def _run(self) -> None:
        try:
            while self._serve():
                pass
        except LOST:
            # The owner of this object notices the lost display itself; callers get DisplayGone.
            pass
        finally:
            with self._lock:
                self._ended = True
            while not self._tasks.empty():
                task = self._tasks.get()
                if task is not None:
                    task.result.cancel()

    def _serve(self) -> bool:
        """Run pending tasks, then wait for the next event; return False at the end."""
        self._selection.handle_pending()
        while not self._tasks.empty():
            task = self._tasks.get()
            if task is None:
                return False
            try:
                task.result.set_result(task.run())
            except ClipboardFailed as error:
                task.result.set_exception(error)
            except xcffib.Error as error:
                task.result.set_exception(ClipboardFailed(repr(error)))
            finally:
                # No effect on a result that is set. After LOST there is none, and the caller would
                # wait for ever.
                task.result.cancel()
            self._selection.handle_pending()
        if self._copied is not None and self._selection.taken:
            self._selection.taken.clear()
            self._copied()
        # Round trips of the tasks may already have read events, which select(2) does not see: hence
        # the second `_handle_pending` above.
        left = None if self._due is None else self._due - time.monotonic()
        if left is not None and left <= 0:
            with suppress(ClipboardFailed):
                self._restore_when_due()
            return True
        sources = [self._connection.get_file_descriptor(), self._wake]
        if self._wake in select.select(sources, [], [], left)[0]:
            os.eventfd_read(self._wake)
        return True


class ViewersText:
    """The text of the clipboard for viewers over RFB, read and copied in a worker thread.

    ``clipboard`` may wait for a display. A desktop error has no place in RFB, so nothing is copied
    or read then.
    """

    def __init__(self, clipboard: Callable[[], X11Clipboard]) -> None:
        self._clipboard = clipboard

    async def copy(self, text: str) -> None:
        """Copy a text."""
        content = Content("text/plain", text.encode())
        with suppress(DesktopError):
            await asyncio.to_thread(lambda: self._clipboard().put(content))

    async def text(self) -> str | None:
        """Return the text; None if there is none, or its program does not hand it over."""
        with suppress(DesktopError):
            found = await asyncio.to_thread(lambda: self._clipboard().get(("text/plain",)))
            return None if found is None else found.data.decode()
        return None
