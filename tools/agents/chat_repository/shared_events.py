"""Events of chats that several control planes of one database show to their clients.

A control plane publishes what it changes to its own subscribers, with all data, and a notice of it
to the others, over a bus (:mod:`~deskhand.tools.store.backends.bus`). Each of them reads the rows
of the notice and publishes the same event. Text that a model is writing, and other events of the
moment, have no rows and are sent whole.

Where notices may have been missed, subscribers get ``lost`` and read the state again.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.store import chats, steps
from deskhand.tools.store.backends.bus import Bus
from deskhand.tools.store.backends.notices import DESKTOPS, DURABLE, MOMENTARY, Notice
from deskhand.tools.store.errors import StoreError

from .events import ChatEvent, Json
from .repository import ChatRepository

log = logging.getLogger(__name__)
RETRY_SECONDS = 0.5
"""Between two attempts to read what notices are about."""


class SharedEvents:
    """The events of one control plane, and those of the others; implements `BusListener`.

    ``changed`` is awaited with the id of each chat that another one has changed, with None if it
    may have been any.
    """

    def __init__(
        self,
        repository: ChatRepository,
        bus: Bus,
        changed: Callable[[str | None], Awaitable[None]],
    ) -> None:
        self._repository = repository
        self._bus = bus
        self._changed = changed
        self._foreign: asyncio.Queue[tuple[Notice, ...]] = asyncio.Queue()
        self.on_desktops: Callable[[], None] = _ignore
        """Called when desktops on nodes may have changed."""
        repository.hub.on_publish = self._published

    def heard(self, notices: Sequence[Notice]) -> None:
        """Take notices of another control plane; `run` publishes what they are about."""
        if any(notice.kind == DESKTOPS for notice in notices):
            self.on_desktops()
        self._foreign.put_nowait(tuple(n for n in notices if n.kind != DESKTOPS))

    def report_desktop(self, desktop_id: str) -> None:
        """Send a notice of a desktop on a node whose row was changed here."""
        self._bus.publish(Notice(DESKTOPS, desktop_id))

    def relay(self, kind: str, chat_id: str, data: Json) -> None:
        """Publish an event of the moment of another control plane."""
        if kind in MOMENTARY:
            self._repository.hub.relay(kind, chat_id, data)

    async def missed(self) -> None:
        """Let subscribers read the state again, as notices may have been missed."""
        self._repository.hub.lose()
        self.on_desktops()
        await self._follow(None)

    async def run(self) -> None:
        """Publish the events of other control planes; never return."""
        while True:
            waiting = [*await self._foreign.get()]
            while not self._foreign.empty():
                waiting += self._foreign.get_nowait()
            # While the database cannot be read, later notices wait, too.
            while waiting:
                if await self._relayed(tuple(dict.fromkeys(waiting))):
                    waiting.clear()
                else:
                    await asyncio.sleep(RETRY_SECONDS)

    async def _relayed(self, notices: Sequence[Notice]) -> bool:
        try:
            found = await self._repository.store.read(lambda s: self._read(s, notices))
        except StoreError as error:
            log.warning("events of other control planes are read later: %s", error)
            return False
        for notice, data in found:
            self._repository.hub.relay(notice.kind, notice.chat_id, data)
        for chat_id in dict.fromkeys(n.chat_id for n in notices if n.kind in ("status", "created")):
            await self._follow(chat_id)
        return True

    async def _read(
        self, session: AsyncSession, notices: Sequence[Notice]
    ) -> list[tuple[Notice, Json]]:
        ids = {notice.chat_id for notice in notices}
        views = {view.id: view for view in await chats.views_of(session, ids)}
        known = await steps.views_of(session, {notice.item for notice in notices if notice.item})
        found: list[tuple[Notice, Json]] = []
        for notice in notices:
            view, step = views.get(notice.chat_id), known.get(notice.item)
            match notice.kind:
                case "created" | "status" if view is not None:
                    found.append((notice, self._repository.status_of(view)))
                case "message" if view is not None:
                    found.append((notice, {"version": view.version}))
                case "step" if step is not None:
                    found.append((notice, step.to_json()))
                case "deleted" | "queue" | "files":
                    found.append((notice, {}))
                case _:
                    # Deleted meanwhile, which another notice says.
                    log.debug("nothing is known of %s", notice)
        return found

    async def _follow(self, chat_id: str | None) -> None:
        try:
            await self._changed(chat_id)
        except StoreError as error:
            log.warning("a change by another control plane is followed later: %s", error)

    def _published(self, event: ChatEvent) -> None:
        if event.kind in DURABLE:
            item = str(event.data.get("id", "")) if event.kind == "step" else ""
            self._bus.publish(Notice(event.kind, event.chat_id, item))
        elif event.kind in MOMENTARY:
            self._bus.send(event.kind, event.chat_id, event.data)


def _ignore() -> None: ...
