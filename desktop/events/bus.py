"""What happens on one desktop, told to whoever listens.

A listener subscribes first and reads the state second: then nothing escapes it. Only the newest
events are kept, for listeners that come back.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

Json = dict[str, Any]

LOST = "lost"
"""Kind of the event that tells a listener to read the state again: it missed something."""


@dataclass(frozen=True)
class DesktopEvent:
    """One event; numbers rise by one."""

    number: int
    kind: str
    """Such as ``window_opened``, ``display_restarted``, ``download_finished``."""
    data: Json
    at: float
    """Seconds since 1970."""


class EventSubscription:
    """The events of one listener, on one event loop; it ends when it or the bus is closed."""

    def __init__(self, bus: "EventBus", loop: asyncio.AbstractEventLoop) -> None:
        self._bus = bus
        self._loop = loop
        self._queue: deque[DesktopEvent] = deque()
        self._woken = asyncio.Event()
        self._closed = False

    async def next(self, timeout: float | None = None) -> DesktopEvent | None:
        """The next event; None after ``timeout`` seconds without one, and at the end."""
        try:
            async with asyncio.timeout(timeout):
                while not self._queue and not self._closed:
                    self._woken.clear()
                    await self._woken.wait()
        except TimeoutError:
            return None
        return self._queue.popleft() if self._queue else None

    @property
    def ended(self) -> bool:
        """Whether there will be no more."""
        return self._closed and not self._queue

    def close(self) -> None:
        """Stop listening; closing twice is fine."""
        self._bus.forget(self)
        self.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def end(self) -> None:
        """Called by the bus, in the listener's loop: what is queued can still be read."""
        self._closed = True
        self._woken.set()

    def offer(self, event: DesktopEvent) -> None:
        """Called by the bus, from any thread."""
        self._call(lambda: self._take(event))

    def offer_end(self) -> None:
        """Called by the bus, from any thread."""
        self._call(self.end)

    def _call(self, act: Callable[[], None]) -> None:
        # A loop that has ended has no listeners.
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(act)

    def _take(self, event: DesktopEvent) -> None:
        if self._closed:
            return
        if len(self._queue) >= self._bus.limit:
            self._queue.clear()
            event = DesktopEvent(event.number, LOST, {}, event.at)
        self._queue.append(event)
        self._woken.set()


class EventBus:
    """Hands events to listeners without ever waiting for one; any thread may publish."""

    def __init__(
        self, boot: str = "", limit: int = 1000, clock: Callable[[], float] = time.time
    ) -> None:
        self.boot = boot
        """Names this bus: numbers mean something together with it only."""
        self.limit = limit
        """Most events that wait for one listener, and that are kept for those who come back."""
        self._clock = clock
        self._lock = threading.Lock()
        self._count = 0
        self._recent: deque[DesktopEvent] = deque(maxlen=limit)
        self._subscriptions: set[EventSubscription] = set()
        self._closed = False

    def publish(self, kind: str, data: Json | None = None) -> DesktopEvent:
        """Tell all who listen."""
        with self._lock:
            self._count += 1
            event = DesktopEvent(self._count, kind, data or {}, self._clock())
            self._recent.append(event)
            for subscription in self._subscriptions:
                subscription.offer(event)
            return event

    def subscribe(self, after: int | None = None) -> EventSubscription:
        """Listen from now on, or to all that came after the event of that number.

        Call it on the event loop that will listen.
        """
        subscription = EventSubscription(self, asyncio.get_running_loop())
        with self._lock:
            if self._closed:
                subscription.offer_end()
                return subscription
            if after is not None:
                for event in self._since(after):
                    subscription.offer(event)
            self._subscriptions.add(subscription)
        return subscription

    def forget(self, subscription: EventSubscription) -> None:
        """Offer it nothing any more."""
        with self._lock:
            self._subscriptions.discard(subscription)

    def close(self) -> None:
        """End all subscriptions, now and later."""
        with self._lock:
            self._closed = True
            for subscription in self._subscriptions:
                subscription.offer_end()

    def _since(self, after: int) -> list[DesktopEvent]:
        oldest = self._recent[0].number if self._recent else self._count + 1
        if not oldest - 1 <= after <= self._count:
            return [DesktopEvent(self._count, LOST, {}, self._clock())]
        return [event for event in self._recent if event.number > after]
