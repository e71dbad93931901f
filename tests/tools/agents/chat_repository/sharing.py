"""Two control planes whose chats are in one database, on any bus; played on each of them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count

from deskhand.tools.agents.chat_repository.events import ChatEvent, ChatSubscription, EventHub
from deskhand.tools.agents.chat_repository.repository import ChatRepository, NewChat
from deskhand.tools.agents.chat_repository.shared_events import SharedEvents
from deskhand.tools.agents.desktops.ports import ChatSettings
from deskhand.tools.store.database import Store
from tests.tools.store.backends.bus_contract import BusEnds, until


@dataclass
class Sharing:
    """The events of one control plane."""

    repository: ChatRepository
    events: SharedEvents
    shown: ChatSubscription
    followed: list[str | None] = field(default_factory=list)

    async def next(self, *kinds: str) -> ChatEvent:
        """Return the next event that its clients get, of some kinds."""
        while (event := await anext(self.shown)).kind not in kinds:
            continue
        return event


@asynccontextmanager
async def sharing(ends: BusEnds, store: Store, name: str) -> AsyncIterator[Sharing]:
    clock = count(1)
    hub = EventHub()
    settings = ChatSettings("http://plane")
    repository = ChatRepository(store, hub, settings, lambda: float(next(clock)))
    followed: list[str | None] = []

    async def changed(chat_id: str | None) -> None:
        followed.append(chat_id)

    events = SharedEvents(repository, await ends.open(name), changed)
    task = asyncio.create_task(events.run())
    try:
        await ends.listen(name, events)
        with hub.subscribe() as shown:
            yield Sharing(repository, events, shown, followed)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def each_shows_what_the_other_changes(ends: BusEnds, store: Store) -> None:
    """Events with the ids and versions of rows, text of the moment, and desktops, on both."""
    async with AsyncExitStack() as stack:
        one = await stack.enter_async_context(sharing(ends, store, "one"))
        two = await stack.enter_async_context(sharing(ends, store, "two"))
        await ends.meet()
        for here, there in ((one, two), (two, one)):
            chat = await here.repository.create(NewChat(title="Mine", model="m"))
            created = await there.next("created")
            assert (created.chat_id, created.data["version"]) == (chat.id, chat.version)
            changed = await here.repository.change(chat.id, lambda row: setattr(row, "title", "T"))
            status = await there.next("status")
            assert (status.chat_id, status.data["version"]) == (chat.id, changed.version)
            assert changed.version > chat.version
            assert status.data == here.repository.status_of(changed)
            here.repository.hub.publish("text", chat.id, {"text": "Hello"})
            text = await there.next("text")
            assert (text.chat_id, text.data) == (chat.id, {"text": "Hello"})
            assert chat.id in there.followed
            # Here, each is shown once.
            kinds = [(await here.next("created", "status", "text")).kind for _ in range(3)]
            assert (kinds, here.shown.waiting) == (["created", "status", "text"], 0)
        reported: list[str] = []
        two.events.on_desktops = lambda: reported.append("two")
        one.events.on_desktops = lambda: reported.append("one")
        one.events.report_desktop("d1")
        await until(lambda: reported)
        assert reported == ["two"]


async def one_that_was_cut_off_lets_its_clients_read_again(ends: BusEnds, store: Store) -> None:
    """No change is missing: each is shown, or clients get `lost`."""
    async with AsyncExitStack() as stack:
        one = await stack.enter_async_context(sharing(ends, store, "one"))
        two = await stack.enter_async_context(sharing(ends, store, "two"))
        await ends.cut("two")
        await one.repository.create(NewChat(title="Meanwhile", model="m"))
        await ends.reconnect("two")
        assert (await two.next("lost", "created")).kind == "lost"
        assert None in two.followed
        later = await one.repository.create(NewChat(title="Later", model="m"))
        # An end that polls may lose once more, and then its clients read that it is there.
        shown = await two.next("lost", "created")
        while shown.kind == "created" and shown.chat_id != later.id:
            shown = await two.next("lost", "created")


SCENARIOS = (each_shows_what_the_other_changes, one_that_was_cut_off_lets_its_clients_read_again)
