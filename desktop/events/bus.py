"""The event bus of one desktop: publishing from any thread, subscriptions on an event loop.

A listener subscribes first and reads the state second, so that it misses no change between the
two. The bus never waits for a listener: each subscription has a queue of ``limit`` events, and one
event `LOST` replaces a queue that is full. The newest ``limit`` events are kept, so that a listener
that reconnects gets those it missed.
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
"""Kind of the event that takes the place of missed ones: the listener reads the state again."""


@dataclass(frozen=True)
class DesktopEvent:
    """One event of a bus; numbers are consecutive."""

    number: int
    kind: str
    """Such as ``window_opened``, ``display_restarted``, ``download_finished``."""
    data: Json
    at: float
    """Seconds since 1970."""


class EventSubscription:
    """The events of one listener on one event loop, until it or the bus is closed."""

    def __init__(self, bus: "EventBus", loop: asyncio.AbstractEventLoop) -> None:
        self._bus = bus
        self._loop = loop
        self._queue: deque[DesktopEvent] = deque()
        self._changed = asyncio.Event()
        self._closed = False

    async def next(self, timeout: float | None = None) -> DesktopEvent | None:
        """Return the next event; None after ``timeout`` seconds without one, and at the end."""
        try:
            async with asyncio.timeout(timeout):
                while not self._queue and not self._closed:
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            return None
        return self._queue.popleft() if self._queue else None

    @property
    def ended(self) -> bool:
        """True if no event will follow."""
        return self._closed and not self._queue

    def close(self) -> None:
        """Unsubscribe; closing twice is fine."""
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
        """End the subscription, called in its loop; queued events can still be read."""
        self._closed = True
        self._changed.set()

    def offer(self, event: DesktopEvent) -> None:
        """Queue an event; the bus calls this from any thread."""
        self._call(lambda: self._take(event))

    def offer_end(self) -> None:
        """End the subscription; the bus calls this from any thread."""
        self._call(self.end)

    def _call(self, act: Callable[[], None]) -> None:
        # `call_soon_threadsafe` raises when the loop is closed, and no listener is left on it.
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(act)

    def _take(self, event: DesktopEvent) -> None:
        if self._closed:
            return
        if len(self._queue) >= self._bus.limit:
            # The listener reads the state again, so the queued events are of no more use.
            self._queue.clear()
            # With the newest number, so that a listener that reconnects with it continues after the
            # gap.
            event = DesktopEvent(event.number, LOST, {}, event.at)
        self._queue.append(event)
        self._changed.set()


class EventBus:
    """Delivers events to all subscriptions without blocking; any thread may publish."""

    def __init__(
        self, boot: str = "", limit: int = 1000, clock: Callable[[], float] = time.time
    ) -> None:
        self.boot = boot
        """Identifies this bus; an event number is unique only together with it."""
        self.limit = limit
        """The maximum length of each queue, and of the list of kept events."""
        self._clock = clock
        self._lock = threading.Lock()
        self._count = 0
        self._recent: deque[DesktopEvent] = deque(maxlen=limit)
        self._subscriptions: set[EventSubscription] = set()
        self._closed = False

    def publish(self, kind: str, data: Json | None = None) -> DesktopEvent:
        """Deliver an event to all subscriptions and return it."""
        # Under the lock, so that every subscription gets events in the order of their numbers.
        with self._lock:
            self._count += 1
            event = DesktopEvent(self._count, kind, data or {}, self._clock())
            self._recent.append(event)
            for subscription in self._subscriptions:
                subscription.offer(event)
            return event

    def subscribe(self, after: int | None = None) -> EventSubscription:
        """Subscribe to events from now on, or to all after the event of that number.

        Call it on the event loop that will read them.
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
        """Deliver no more events to a subscription."""
        with self._lock:
            self._subscriptions.discard(subscription)

    def close(self) -> None:
        """End all subscriptions, present and future."""
        with self._lock:
            self._closed = True
            for subscription in self._subscriptions:
                subscription.offer_end()

    def _since(self, after: int) -> list[DesktopEvent]:
        oldest = self._recent[0].number if self._recent else self._count + 1
        # A number above the count belongs to another bus, one below the oldest to forgotten events.
        if not oldest - 1 <= after <= self._count:
            return [DesktopEvent(self._count, LOST, {}, self._clock())]
        return [event for event in self._recent if event.number > after]
