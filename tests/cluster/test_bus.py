"""The bus of control planes on PostgreSQL, with the relay of text, keeps the contract of buses."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url

from deskhand.tools.cluster.member import Member
from deskhand.tools.cluster.moment import PeerAddress
from deskhand.tools.cluster.moments import PlaneMoments, plane_moments
from deskhand.tools.store.backends.bus import Bus, BusListener
from deskhand.tools.store.backends.notices import LONGEST_PAYLOAD, Notice
from deskhand.tools.store.backends.plane_lock import KEY, PlaneLocks
from deskhand.tools.store.backends.postgres_bus import BusTimes, PostgresBus
from deskhand.tools.store.database import Store
from tests.cluster.playing import play
from tests.postgres_server import PostgresServer
from tests.tools.agents.chat_repository.sharing import SCENARIOS
from tests.tools.cluster.certified import Cluster
from tests.tools.store.backends.bus_contract import (
    CONTRACT,
    STATUS,
    BusEnds,
    Heard,
    Scenario,
    joined,
    until,
)

pytestmark = pytest.mark.cluster

POLL_SECONDS = 0.05
CONNECTION = text(
    "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid = :key"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    " AND CAST(objid AS bigint) = CAST(hashtext(:plane) AS bigint) & 4294967295"
)
CUT = text("SELECT pg_terminate_backend(:pid)")


class Begun:
    """Passes on what a listener gets; an end that has just connected has missed what was before."""

    def __init__(self, listener: BusListener) -> None:
        self._listener = listener
        self.heard, self.relay = listener.heard, listener.relay
        self.missing = asyncio.Event()

    async def missed(self) -> None:
        await self._listener.missed()
        self.missing.set()


class ServerEnds:
    """Ends on a database of a server, each with a port for text."""

    def __init__(self, server: PostgresServer, url: str, store: Store, cluster: Cluster) -> None:
        self._server = server
        self._url = url
        self._store = store
        self._cluster = cluster
        self._moments: dict[str, PlaneMoments] = {}
        self._buses: dict[str, PostgresBus] = {}
        self._running: set[str] = set()
        self._stack = AsyncExitStack()

    async def open(self, name: str) -> Bus:
        async def peers() -> Collection[PeerAddress]:
            return [one.address for other, one in self._moments.items() if other != name]

        self._cluster.issue(Member("plane", name))
        opening = plane_moments(self._cluster.folder / name, "127.0.0.1", 0, peers)
        self._moments[name] = await self._stack.enter_async_context(opening)
        locks, times = PlaneLocks(name), BusTimes(poll=POLL_SECONDS)
        bus = PostgresBus(self._url, name, locks, self._moments[name], times)
        self._buses[name] = bus
        return bus

    async def listen(self, name: str, listener: BusListener) -> None:
        begun = Begun(listener)
        task = asyncio.create_task(self._buses[name].run(begun))
        self._stack.push_async_callback(_ended, task)
        self._running.add(name)
        await begun.missing.wait()

    async def meet(self) -> None:
        others = len(self._running) - 1
        await until(lambda: all(self._moments[one].connections == others for one in self._running))

    async def cut(self, name: str) -> None:
        pid = await self._connection(name)
        await self._allow("false")
        await self._store.read(lambda s: s.scalar(CUT, {"pid": pid}))
        while await self._connection(name) is not None:  # noqa: ASYNC110 - a row of the server
            await asyncio.sleep(0.01)

    async def reconnect(self, name: str) -> None:
        await self._allow("true")
        await self._connected(name)

    async def close(self) -> None:
        await self._stack.aclose()

    async def _allow(self, whether: str) -> None:
        """Let the database take new connections, or refuse them."""
        statement = f"ALTER DATABASE {make_url(self._url).database} ALLOW_CONNECTIONS {whether}"
        await asyncio.to_thread(self._server.sql, statement)

    async def _connected(self, name: str) -> None:
        while await self._connection(name) is None:  # noqa: ASYNC110 - a row of the server
            await asyncio.sleep(0.01)

    async def _connection(self, name: str) -> Any:
        return await self._store.read(lambda s: s.scalar(CONNECTION, {"key": KEY, "plane": name}))


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@asynccontextmanager
async def server_ends(
    server: PostgresServer, folder: Path
) -> AsyncIterator[tuple[ServerEnds, Store]]:
    url = server.database()
    async with await Store.open(url) as store:
        ends = ServerEnds(server, url, store, Cluster(folder))
        try:
            yield ends, store
        finally:
            await ends.close()


@pytest.mark.parametrize("scenario", CONTRACT, ids=lambda one: one.__name__)
def test_the_bus_keeps_the_contract(
    scenario: Scenario, postgresql: PostgresServer, tmp_path: Path
) -> None:
    async def main() -> None:
        async with server_ends(postgresql, tmp_path) as (ends, _):
            await scenario(ends)

    play(main)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.__name__)
def test_chats_are_shown_over_it(
    scenario: Callable[[BusEnds, Store], Awaitable[None]],
    postgresql: PostgresServer,
    tmp_path: Path,
) -> None:
    async def main() -> None:
        async with server_ends(postgresql, tmp_path) as (ends, store):
            await scenario(ends, store)

    play(main)


def test_an_end_without_a_connection_misses_again_and_again(
    postgresql: PostgresServer, tmp_path: Path
) -> None:
    async def main() -> None:
        async with server_ends(postgresql, tmp_path) as (ends, _):
            one, _ = await joined(ends, "one")
            _, there = await joined(ends, "two")
            await ends.cut("two")
            missed = there.misses
            await until(lambda: there.misses >= missed + 3)
            await ends.reconnect("two")
            one.publish(STATUS)
            await until(lambda: there.notices)
            # It listens, and misses nothing more.
            missed = there.misses
            for kind in ("queue", "files", "deleted"):
                there.notices.clear()
                one.publish(Notice(kind, "a"))
                await until(lambda: there.notices)
            assert there.misses == missed

    play(main)


def test_more_than_one_payload_holds_is_heard_completely_and_in_order(
    postgresql: PostgresServer, tmp_path: Path
) -> None:
    async def main() -> None:
        async with server_ends(postgresql, tmp_path) as (ends, _):
            one, _ = await joined(ends, "one")
            _, there = await joined(ends, "two")
            found = [Notice("status", f"{number:036}") for number in range(LONGEST_PAYLOAD // 10)]
            for notice in found:
                one.publish(notice)
            await until(lambda: len(there.notices) == len(found))
            assert there.notices == found

    play(main)


def test_a_payload_of_another_version_is_left_out(
    postgresql: PostgresServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        async with server_ends(postgresql, tmp_path) as (ends, store):
            counted = Counting()
            await ends.open("one")
            await ends.listen("one", counted)
            later = text("SELECT pg_notify('deskhand', 'of a later version')")
            await store.write(lambda s: s.execute(later))
            await until(lambda: counted.calls)
            assert (counted.calls, counted.notices) == (1, [])

    play(main)
    assert "a payload of another version is ignored" in caplog.text


class Counting(Heard):
    """Counts how often it hears something, if only that there is something unknown."""

    calls = 0

    def heard(self, notices: Any) -> None:
        self.calls += 1
        super().heard(notices)
