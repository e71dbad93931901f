"""Supervision of the X server: replaces a display instance that has ended.

States of the display, as seen by callers:

* *absent*, of a deferred display only: nothing was started. The first call that needs the display,
  and the first client that connects to its socket (``want``), makes it *wanted*; calls wait as in
  *starting*. ``start`` makes either of the two *starting*.
* *starting*: ``_running`` is a pending future. Calls wait for it, up to their timeout. If the next
  attempt is due only after that, they raise DisplayNotReady at once instead of waiting in vain.
* *running*: ``_running`` holds the instance.
* *closed*: ``_running`` is cancelled, and every call raises DisplayGone.

Events: ``start``, the X server exits (reported by the instance, in the spawn thread), a call finds
its connection broken (``lost``, in any thread), ``close``. Each of the first three makes the state
*starting* and wakes the thread, which closes the old instance, waits as `backoff` says, and opens
the next one.

Invariants: at most one instance is open at any time; an instance is replaced once, however often
its end is reported, as reports carry its number; frame counters and event order continue across
instances. Replacement runs in a thread of its own because closing an X server and starting
another one block for seconds, while the event loop must keep answering.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from types import TracebackType
from typing import Any, Generic, Literal, Protocol, Self, TypeVar

from deskhand.desktop.errors import DesktopError, DisplayGone, DisplayNotReady

from .backoff import pause, recent

_NAME = "of this desktop"

logger = logging.getLogger(__name__)

NOT_STARTED = "it is started at its first use, as soon as there is room for one more display"
PATIENCE_SECONDS = 8.0
"""Default time that a call waits for a display that is starting."""


class Supervised(Protocol):
    """One X server with its session and connections."""

    @property
    def number(self) -> int:
        """Sequence number, counted from 1."""

    @property
    def alive(self) -> bool:
        """False once the X server has exited by itself."""

    def open(self) -> None:
        """Start all parts; when this raises, none of them runs."""

    def close(self) -> None:
        """End all parts that still run; twice is fine."""


InstanceT = TypeVar("InstanceT", bound=Supervised)


class DisplaySupervisor(Generic[InstanceT]):
    """Keeps one instance open: when it ends by itself, a thread closes it and opens the next.

    ``create`` makes an instance with that number, not open yet, which calls back when it ends by
    itself. ``publish`` is called in the supervisor's thread with an event's kind and data.
    ``deferred`` leaves the first instance to ``start``.
    """

    def __init__(
        self,
        create: Callable[[int, Callable[[], None]], InstanceT],
        publish: Callable[[str, dict[str, Any]], object],
        clock: Callable[[], float] = time.monotonic,
        *,
        deferred: bool = False,
    ) -> None:
        self._deferred = deferred
        self._wanted: Future[None] = Future()
        self._wanted_here: asyncio.Future[None] | None = None
        self._create = create
        self._publish = publish
        self._clock = clock
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._died = threading.Event()
        self._thread = threading.Thread(target=self._run, name="display", daemon=True)
        self._running: Future[InstanceT] = Future()
        self._newest: InstanceT | None = None
        self._number = 0
        self._failures: tuple[float, ...] = ()
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
        """Open the first instance, unless it is deferred, and start the thread.

        Raises:
            DesktopError: If the instance does not start.
        """
        if self._deferred:
            self._reason = NOT_STARTED
        else:
            self._start()
        self._thread.start()

    def close(self) -> None:
        """Close the instance; calls that wait for one raise DisplayGone. Twice is fine."""
        self._closing.set()
        self._died.set()
        if self._thread.ident is not None:
            self._thread.join()
        with self._lock:
            self._running.cancel()
        # The newest instance may have ended by itself just before; the thread replaces none now.
        if self._newest is not None:
            self._newest.close()

    @property
    def state(self) -> Literal["absent", "wanted", "starting", "running"]:
        """State of the display; see the module."""
        if self._running.done():
            return "running"
        if not self._deferred:
            return "starting"
        return "wanted" if self._wanted.done() else "absent"

    def want(self) -> None:
        """Report, from any thread, that the display is used."""
        with self._lock:
            if not self._wanted.done():
                self._wanted.set_result(None)

    async def wait_wanted(self, timeout: float) -> None:
        """Wait until a deferred display is used or started, at most so long."""
        if self._deferred and not self._wanted.done():
            # One future for all waits: each other one would stay referenced until the first use.
            if self._wanted_here is None:
                self._wanted_here = asyncio.wrap_future(self._wanted)
            # Unlike wait_for, asyncio.wait does not cancel the future that all callers share.
            await asyncio.wait({self._wanted_here}, timeout=timeout)

    def start(self) -> None:
        """Start a deferred display in the supervisor's thread; a second call does nothing."""
        with self._lock:
            if not self._deferred or self._closing.is_set():
                return
            self._deferred = False
            self._reason = ""
            if not self._wanted.done():
                self._wanted.set_result(None)
        self._died.set()

    @property
    def latest(self) -> InstanceT | None:
        """The newest instance; None before a deferred display is started."""
        return self._newest

    @property
    def newest(self) -> InstanceT:
        """The instance that was opened last, even if it has ended since."""
        if self._newest is None:
            raise DisplayGone(_NAME, "not open")
        return self._newest

    @property
    def next_start_s(self) -> float | None:
        """Seconds until the next attempt to start; None during an attempt and while running."""
        if self._next_start is None:
            return None
        return max(0.0, self._next_start - self._clock())

    def current(self, timeout: float = PATIENCE_SECONDS) -> InstanceT:
        """Return the running instance, or wait for the next one. Blocks: not for an event loop.

        Raises:
            DisplayNotReady: If none starts in time, or no attempt is due before that.
            DisplayGone: If the display was closed.
        """
        if timeout > 0.0:
            self.want()
        try:
            return self._running.result(self._allowed_wait(timeout))
        except TimeoutError as error:
            raise self._not_ready() from error
        except CancelledError as error:
            raise DisplayGone(_NAME, "closed") from error

    def present(self) -> InstanceT:
        """Return the running instance without waiting.

        Raises:
            DisplayNotReady: If none runs now.
            DisplayGone: If the display was closed.
        """
        return self.current(0.0)

    async def wait_ready(self, timeout: float = PATIENCE_SECONDS) -> None:
        """Wait until an instance runs.

        Raises:
            DisplayNotReady: As ``current``.
            DisplayGone: As ``current``.
        """
        self.want()
        if not self._running.done():
            running = asyncio.wrap_future(self._running)
            # Unlike wait_for, asyncio.wait does not cancel `running` and with it `_running`, which
            # all callers share.
            await asyncio.wait({running}, timeout=self._allowed_wait(timeout))
        self.present()

    def lost(self, instance: InstanceT, reason: str) -> None:
        """Report, from any thread, that an instance is unusable, for example disconnected."""
        self._handle_end(instance.number, reason)

    def status(self) -> dict[str, Any]:
        """Return the state for the status route."""
        next_start_s = self.next_start_s
        return {
            "state": self.state,
            "restarts": max(0, self._number - 1),
            "recent_ends": len(recent(self._failures, self._clock())),
            "last_end": self._reason or None,
            "next_start_s": None if next_start_s is None else round(next_start_s, 1),
        }

    def _allowed_wait(self, timeout: float) -> float:
        return 0.0 if (self.next_start_s or 0.0) > timeout else timeout

    def _not_ready(self) -> DisplayNotReady:
        waited = 0.0 if not self._failures else self._clock() - self._failures[-1]
        return DisplayNotReady(_NAME, max(0.0, waited), self._reason)

    def _handle_end(self, number: int, reason: str) -> None:
        with self._lock:
            if self._closing.is_set() or number != self._number or not self._running.done():
                return
            self._record_failure(reason)
            self._running = Future()
            self._died.set()

    def _record_failure(self, reason: str) -> None:
        now = self._clock()
        self._failures = (*recent(self._failures, now), now)
        self._reason = reason

    def _run(self) -> None:
        while True:
            self._died.wait()
            self._died.clear()
            if self._closing.is_set():
                return
            if self._newest is not None:
                logger.warning("the display is started again: %s", self._reason)
                self._newest.close()
            if not self._replace():
                return

    def _replace(self) -> bool:
        while True:
            wait = pause(self._failures, self._clock())
            self._next_start = self._clock() + wait
            if self._closing.wait(wait):
                return False
            self._next_start = None
            try:
                self._start()
            except (DesktopError, OSError) as error:
                self._record_failure(str(error))
            else:
                return True

    def _start(self) -> None:
        self._number += 1
        number = self._number
        instance = self._create(number, lambda: self._handle_end(number, "the X server ended"))
        instance.open()
        self._newest = instance
        with self._lock:
            self._running.set_result(instance)
        if number > 1:
            self._publish("display_restarted", {"number": number, "reason": self._reason})
        if not instance.alive:
            # An X server that exited before `_running` was set was ignored by `_handle_end`.
            self._handle_end(number, "the X server ended")
