"""Event hub of the chats: publishes changes to subscribers without waiting for any of them.

A client subscribes first and reads the state second. An event of the time in between then arrives
in addition to the state that already contains it, and the client recognises it by the chat's
version; in the other order the event would be lost.

The hub keeps the newest events for clients that reconnect with ``Last-Event-ID``
(https://html.spec.whatwg.org/multipage/server-sent-events.html#last-event-id). The database is the
truth: a client that is too slow, or comes back too late, gets the event ``lost`` and reads the
state again.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any, Self

Json = dict[str, Any]


@dataclass(frozen=True)
class ChatEvent:
    """One event; ids rise over all chats."""

    id: int
    kind: str
    """``created``, ``status``, ``message``, ``text``, ``step``, ``queue``, ``files``,
    ``notice``, ``egress`` (an address that was refused), ``deleted``; at ``lost`` the client must
    read the state again."""
    chat_id: str
    data: Json = field(default_factory=dict)


class ChatSubscription(AsyncIterator[ChatEvent]):
    """The events of one chat or of all; the iteration ends when it or the hub is closed."""

    def __init__(self, hub: "EventHub", chat_id: str | None) -> None:
        self._hub = hub
        self._chat_id = chat_id
        self._queue: deque[ChatEvent] = deque()
        self._woken = asyncio.Event()
        self._closed = False

    @property
    def waiting(self) -> int:
        """Number of events that can be read without waiting."""
        return len(self._queue)

    async def __anext__(self) -> ChatEvent:
        while not self._queue:
            if self._closed:
                raise StopAsyncIteration
            self._woken.clear()
            await self._woken.wait()
        return self._queue.popleft()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def aclose(self) -> None:
        """Unsubscribe; the method has the name that asynchronous generators use."""
        self.close()

    def close(self) -> None:
        """Unsubscribe; closing twice is fine."""
        self._closed = True
        self._woken.set()
        self._hub.forget(self)

    def offer(self, event: ChatEvent) -> None:
        """Queue an event if this subscription is for its chat."""
        if self._chat_id not in (None, event.chat_id):
            return
        newest = self._queue[-1] if self._queue else None
        if newest and newest.kind == event.kind == "text" and newest.chat_id == event.chat_id:
            # A text event carries the whole text so far, so that the newest replaces the others.
            self._queue.pop()
        if len(self._queue) >= self._hub.limit:
            # A subscriber that does not read must not use memory without bound.
            self.lose(event)
        else:
            self._queue.append(event)
            self._woken.set()

    def lose(self, event: ChatEvent) -> None:
        """Queue ``lost`` with the id of an event, in place of all that waits."""
        self._queue.clear()
        self._queue.append(ChatEvent(event.id, "lost", self._chat_id or ""))
        self._woken.set()


class EventHub:
    """Queues each event in the subscriptions; a slow subscriber does not delay the others."""

    def __init__(self, first_id: int = 1, limit: int = 1000) -> None:
        self.limit = limit
        """Most events that wait for one subscriber, and that are kept for reconnecting clients."""
        self._next_id = first_id
        self._recent: deque[ChatEvent] = deque(maxlen=limit)
        self._subscriptions: set[ChatSubscription] = set()
        self._closed = False
        self.on_publish: Callable[[ChatEvent], None] = lambda _: None
        """Called with the events of this process, where other control planes follow them."""

    def publish(self, kind: str, chat_id: str, data: Json | None = None) -> ChatEvent:
        """Send an event to all subscriptions for its chat, and to other control planes."""
        event = self.relay(kind, chat_id, data)
        self.on_publish(event)
        return event

    def lose(self) -> None:
        """Let all subscribers read the state again: events of other control planes were missed."""
        self._recent.clear()
        for subscription in tuple(self._subscriptions):
            subscription.lose(ChatEvent(self._next_id, "lost", ""))
        self._next_id += 1

    def relay(self, kind: str, chat_id: str, data: Json | None = None) -> ChatEvent:
        """Send an event of another control plane to all subscriptions for its chat."""
        event = ChatEvent(self._next_id, kind, chat_id, data or {})
        self._next_id += 1
        # A text grows with every token of a reply: kept events would push out all others.
        if kind != "text":
            self._recent.append(event)
        for subscription in tuple(self._subscriptions):
            subscription.offer(event)
        return event

    def subscribe(self, chat_id: str | None = None, after: int | None = None) -> ChatSubscription:
        """Subscribe from now on, or from the event after the given id."""
        subscription = ChatSubscription(self, chat_id)
        if self._closed:
            subscription.close()
            return subscription
        if after is not None:
            self._catch_up(subscription, chat_id, after)
        self._subscriptions.add(subscription)
        return subscription

    def forget(self, subscription: ChatSubscription) -> None:
        """Remove a subscription."""
        self._subscriptions.discard(subscription)

    def close(self) -> None:
        """End all subscriptions, now and later."""
        self._closed = True
        for subscription in tuple(self._subscriptions):
            subscription.close()

    def _catch_up(self, subscription: ChatSubscription, chat_id: str | None, after: int) -> None:
        last = self._next_id - 1
        oldest = self._recent[0].id if self._recent else self._next_id
        # An id above the last one is of another data directory, or the clock was set back.
        if not oldest - 1 <= after <= last:
            subscription.offer(ChatEvent(last, "lost", chat_id or ""))
            return
        for event in self._recent:
            if event.id > after:
                subscription.offer(event)
