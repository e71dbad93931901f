"""Two control planes in one process, on one database of a server and the same desktops."""

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from deskhand.tools.agents.chat_repository.events import ChatEvent
from deskhand.tools.agents.chats.chats import Chats
from deskhand.tools.agents.desktops.ports import ChatSettings
from deskhand.tools.agents.driving.driver import Driver
from deskhand.tools.cluster.moments import PlaneMoments, plane_moments
from deskhand.tools.control_plane.service.planes import LivingPeers
from deskhand.tools.kit.support.spec import Tool
from deskhand.tools.store.backends.plane_lock import PlaneLocks
from deskhand.tools.store.backends.postgres_bus import BusTimes, PostgresBus
from deskhand.tools.store.database import Store
from deskhand.tools.store.file_store import FileStore
from deskhand.tools.store.rows.packed_pictures import PackedPictureRows
from deskhand.tools.store.stored_files import StoredFiles
from deskhand.tools.store.upload_queue import ObjectStore, UploadQueue
from tests.cluster.playing import LIMIT
from tests.tools.agents.chats.fakes import FakeMachines, FakeModels, OpenChats, ScriptedModel

POLL_SECONDS = 0.2
"""Between two attempts to connect again."""


@dataclass
class Plane(OpenChats):
    """A control plane, with all events that its clients get."""

    driver: Driver = field(kw_only=True)
    channel: asyncio.Task[None] = field(kw_only=True)
    moments: PlaneMoments | None = field(kw_only=True, default=None)
    events: list[ChatEvent] = field(kw_only=True, default_factory=list)
    heard: asyncio.Event = field(kw_only=True, default_factory=asyncio.Event)
    moving: asyncio.Task[None] | None = field(kw_only=True, default=None)
    """What moves its files to a bucket."""

    def kinds(self, chat_id: str) -> list[str]:
        return [event.kind for event in self.events if event.chat_id == chat_id]

    async def event(self, kind: str, chat_id: str = "") -> ChatEvent:
        """Return the newest event of a kind, once there is one."""
        while True:
            for event in reversed(self.events):
                if event.kind == kind and chat_id in ("", event.chat_id):
                    return event
            self.heard.clear()
            await self.heard.wait()

    async def listen(self) -> None:
        with self.chats.events(None) as subscription:
            async for event in subscription:
                self.events.append(event)
                self.heard.set()


@asynccontextmanager
async def plane(
    url: str,
    folder: Path,
    name: str,
    machines: FakeMachines,
    models: Mapping[str, ScriptedModel],
    tools: tuple[Tool, ...] = (),
    certificates: Path | None = None,
    ahead: float | None = None,
    objects: ObjectStore | None = None,
) -> AsyncIterator[Plane]:
    """Open one control plane; its heartbeats are those of the test.

    With ``certificates`` it exchanges events of the moment with the others. Its clock is so many
    seconds ``ahead``, or counts how often it is read. With ``objects`` it moves its files there.
    """
    clock = itertools.count(1_800_000_000)
    now = (lambda: float(next(clock))) if ahead is None else (lambda: time.time() + ahead)
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(await Store.open(url))
        disk, queue = FileStore(folder / name, moves=objects is not None), None
        if objects is not None:
            # Only what wakes it starts a scan in a test.
            pictures = PackedPictureRows(store, name)
            queue = UploadQueue(disk, objects, interval=3600.0, pictures=pictures, now=now)
        files = StoredFiles(store, disk, now, queue, plane=name if objects is not None else None)
        settings = ChatSettings("http://plane", action_seconds=0.0, approval="risky")
        moments, address = None, ""
        if certificates is not None:
            opening = plane_moments(certificates, "127.0.0.1", 0, LivingPeers(store, name).read)
            moments = await stack.enter_async_context(opening)
            address = str(moments.address)
        driver = Driver(store, name, address)
        driver.on_claimed = files.pack_soon
        known = FakeModels(dict(models))
        chats = Chats(
            *(store, files, known, machines, tools, settings),
            drive=driver.drive,
            now=now,
        )
        await driver.open()
        await chats.resume()
        stack.push_async_callback(chats.close)
        bus = PostgresBus(url, name, PlaneLocks(name), moments, BusTimes(poll=POLL_SECONDS))
        shared = chats.shared_events(bus, driver)
        exchange = asyncio.create_task(bus.run(shared))
        made = Plane(
            *(chats, store, files, known, machines, settings),
            driver=driver,
            channel=exchange,
            moments=moments,
        )
        works = [made.listen(), shared.run()]
        if queue is not None:
            made.moving = asyncio.create_task(queue.run())
            stack.push_async_callback(_end, made.moving)
        for work in (exchange, *map(asyncio.create_task, works)):
            stack.push_async_callback(_end, work)
        # Both have begun to listen.
        await made.event("lost")
        yield made


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@asynccontextmanager
async def two(
    url: str, folder: Path, *models: Mapping[str, ScriptedModel], tools: tuple[Tool, ...] = ()
) -> AsyncIterator[tuple[Plane, Plane]]:
    """Open two control planes, each with its models."""
    machines = FakeMachines()
    async with AsyncExitStack() as stack:
        one, other = [
            await stack.enter_async_context(plane(url, folder, name, machines, each, tools))
            for name, each in zip(("one", "two"), models, strict=True)
        ]
        yield one, other


def played(
    url: str,
    folder: Path,
    models: tuple[Mapping[str, ScriptedModel], Mapping[str, ScriptedModel]],
    scenario: Callable[[Plane, Plane], Awaitable[None]],
    tools: tuple[Tool, ...] = (),
) -> None:
    """Await a scenario with two control planes."""

    async def main() -> None:
        async with asyncio.timeout(LIMIT), two(url, folder, *models, tools=tools) as (one, other):
            await scenario(one, other)

    asyncio.run(main())
