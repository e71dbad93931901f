"""A third bus, as one over a server of messages such as NATS would be."""

import asyncio
import json
from collections import deque

from deskhand.tools.store.backends.bus import BusListener, Json
from deskhand.tools.store.backends.notices import Notice


class Broker:
    """Passes each line to all subscribers, also to the one that has sent it; keeps none."""

    def __init__(self) -> None:
        self.inboxes: set[asyncio.Queue[str]] = set()

    def pass_on(self, line: str) -> None:
        for inbox in self.inboxes:
            inbox.put_nowait(line)


class BrokerBus:
    """One end, whose lines are ``[PLANE, KIND, CHAT, ITEM]``; the item of a moment is its data."""

    def __init__(self, broker: Broker, plane: str) -> None:
        self._broker = broker
        self._plane = plane
        self._connected = False
        self._waiting: deque[Notice] = deque()

    def publish(self, notice: Notice) -> None:
        self._waiting.append(notice)
        if self._connected:
            self._flush()

    def send(self, kind: str, chat_id: str, data: Json) -> None:
        if self._connected:
            self._broker.pass_on(json.dumps([self._plane, kind, chat_id, data]))

    async def run(self, listener: BusListener) -> None:
        inbox: asyncio.Queue[str] = asyncio.Queue()
        self._broker.inboxes.add(inbox)
        self._connected = True
        try:
            self._flush()
            await listener.missed()
            while True:
                plane, kind, chat_id, item = json.loads(await inbox.get())
                if plane == self._plane:
                    continue
                if isinstance(item, str):
                    listener.heard([Notice(kind, chat_id, item)])
                else:
                    listener.relay(kind, chat_id, item)
        finally:
            self._connected = False
            self._broker.inboxes.discard(inbox)

    def _flush(self) -> None:
        while self._waiting:
            notice = self._waiting.popleft()
            line = json.dumps([self._plane, notice.kind, notice.chat_id, notice.item])
            self._broker.pass_on(line)
