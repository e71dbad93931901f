"""A display that is there again after its X server has died."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar

from deskhand.desktop.errors import DesktopError, DisplayGone, DisplayNotReady

from .backoff import pause, recent

_NAME = "of this desktop"

logger = logging.getLogger(__name__)

PATIENCE_SECONDS = 8.0
"""How long a call waits for a display that is being started."""


class Supervised(Protocol):
    """One X server with what belongs to it."""

    @property
    def number(self) -> int:
        """Counts from 1."""

    @property
    def alive(self) -> bool:
        """Whether it has not ended by itself."""

    def open(self) -> None:
        """Start; nothing of it runs when this raises."""

    def close(self) -> None:
        """End what is left of it; twice is fine."""


L = TypeVar("L", bound=Supervised)


class DisplaySupervisor(Generic[L]):
    """Keeps one life open: when it ends by itself, a thread closes it and opens the next.

    ``begin`` makes a life of that number, not open yet, which calls back when it ends by itself.
    ``told`` is called in that thread with an event's kind and data.
    """

    def __init__(
        self,
        begin: Callable[[int, Callable[[], None]], L],
        told: Callable[[str, dict[str, Any]], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._begin = begin
        self._told = told
        self._clock = clock
        self._lock = threading.Lock()
        self._ending = threading.Event()
        self._died = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="display", daemon=True)
        self._coming: Future[L] = Future()
        self._newest: L | None = None
        self._number = 0
        self._ends: tuple[float, ...] = ()
        self._reason = ""
        self._next_start: float | None = None

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
        """Open the first life, and watch over it.

        Raises:
            DesktopError: If it does not start.
        """
        self._start()
        self._thread.start()

    def close(self) -> None:
        """End the life that there is; calls that wait for one get DisplayGone. Twice is fine."""
        self._ending.set()
        self._died.set()
        if self._thread.ident is not None:
            self._thread.join()
        with self._lock:
            self._coming.cancel()
        # Also one that has just ended by itself, which nobody replaces any more.
        if self._newest is not None:
            self._newest.close()

    @property
    def newest(self) -> L:
        """The life that was opened last, over or not; there is one once this is open."""
        if self._newest is None:
            raise DisplayGone(_NAME, "not open")
        return self._newest

    @property
    def next_start_s(self) -> float | None:
        """Seconds until the next start is tried; None while it is, and while there is a life."""
        if self._next_start is None:
            return None
        return max(0.0, self._next_start - self._clock())

    def current(self, patience: float = PATIENCE_SECONDS) -> L:
        """The life that there is; waits for the next one, so never call it on an event loop.

        Raises:
            DisplayNotReady: If there is none in time, or none is tried before that.
            DisplayGone: If the display was closed.
        """
        try:
            return self._coming.result(self._worth(patience))
        except TimeoutError as error:
            raise self._not_ready() from error
        except CancelledError as error:
            raise DisplayGone(_NAME, "closed") from error

    def present(self) -> L:
        """The life that there is, without waiting.

        Raises:
            DisplayNotReady: If there is none just now.
            DisplayGone: If the display was closed.
        """
        return self.current(0.0)

    async def awake(self, patience: float = PATIENCE_SECONDS) -> None:
        """Wait until there is a life.

        Raises:
            DisplayNotReady: As ``current``.
            DisplayGone: As ``current``.
        """
        if not self._coming.done():
            coming = asyncio.wrap_future(self._coming)
            await asyncio.wait({coming}, timeout=self._worth(patience))
        self.present()

    def lost(self, life: L, reason: str) -> None:
        """Take note, in any thread, that a life is of no use any more."""
        self._end(life.number, reason)

    def status(self) -> dict[str, Any]:
        """How it is, for the desktop's status."""
        next_start_s = self.next_start_s
        return {
            "state": "running" if self._coming.done() else "starting",
            "restarts": max(0, self._number - 1),
            "recent_ends": len(recent(self._ends, self._clock())),
            "last_end": self._reason or None,
            "next_start_s": None if next_start_s is None else round(next_start_s, 1),
        }

    def _worth(self, patience: float) -> float:
        return 0.0 if (self.next_start_s or 0.0) > patience else patience

    def _not_ready(self) -> DisplayNotReady:
        waited = 0.0 if not self._ends else self._clock() - self._ends[-1]
        return DisplayNotReady(_NAME, max(0.0, waited), self._reason)

    def _end(self, number: int, reason: str) -> None:
        with self._lock:
            if self._ending.is_set() or number != self._number or not self._coming.done():
                return
            self._note_end(reason)
            self._coming = Future()
            self._died.set()

    def _note_end(self, reason: str) -> None:
        now = self._clock()
        self._ends = (*recent(self._ends, now), now)
        self._reason = reason

    def _watch(self) -> None:
        while True:
            self._died.wait()
            self._died.clear()
            if self._ending.is_set():
                return
            logger.warning("the display is started again: %s", self._reason)
            self.newest.close()
            if not self._replace():
                return

    def _replace(self) -> bool:
        while True:
            wait = pause(self._ends, self._clock())
            self._next_start = self._clock() + wait
            if self._ending.wait(wait):
                return False
            self._next_start = None
            try:
                self._start()
            except (DesktopError, OSError) as error:
                self._note_end(str(error))
            else:
                return True

    def _start(self) -> None:
        self._number += 1
        number = self._number
        life = self._begin(number, lambda: self._end(number, "the X server ended"))
        life.open()
        self._newest = life
        with self._lock:
            self._coming.set_result(life)
        if number > 1:
            self._told("display_restarted", {"number": number, "reason": self._reason})
        if not life.alive:
            # It ended between its start and the moment from which that is listened to.
            self._end(number, "the X server ended")
