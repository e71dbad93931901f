"""The placer on a server, with gates that are real servers."""

import asyncio
import itertools
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.cluster.placing.errors import CutOff
from deskhand.tools.cluster.placing.gates import Gates
from deskhand.tools.cluster.placing.placer import NodeTimes, Placer
from deskhand.tools.commands.cluster.place import bus_of
from deskhand.tools.store.backends.notices import read_payload
from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import StoreUnavailable
from deskhand.tools.store.rows import desktops, nodes
from deskhand.tools.store.tables.desktops import DesktopRow, NodeRow
from tests.cluster.gates import FakeGate, FakeRooms, gates
from tests.cluster.playing import LIMIT
from tests.postgres_server import PostgresServer
from tests.tools.cluster.certified import N7, N8, Cluster

pytestmark = pytest.mark.cluster

ORDERED = itertools.count(1.0)
TIMES = NodeTimes(ask=0.2, down=1.0)


@dataclass
class RunningPlacer:
    placer: Placer
    task: asyncio.Task[None]

    def leads(self) -> bool:
        return self.placer.leads()

    def kill(self) -> None:
        """End it where it is: what it has begun is in the rows alone."""
        self.task.cancel()


@dataclass
class Placing:
    """Two nodes, the rows, and placers of a test."""

    url: str
    store: Store
    n7: FakeGate
    n8: FakeGate
    rooms: FakeRooms
    cluster: Cluster

    @asynccontextmanager
    async def placer(self) -> AsyncIterator[RunningPlacer]:
        """Run a placer until the block ends, which kills it."""
        async with await Store.open(self.url) as store, Gates(self.cluster.plane) as client:
            bus, leadership = bus_of(self.url)
            made = Placer(
                *(bus, leadership, store, client, self.rooms), "127.0.0.1:6379", "1.0", TIMES
            )
            task = asyncio.create_task(made.run())
            try:
                yield RunningPlacer(made, task)
            finally:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def answered(self) -> None:
        """Wait until both nodes have answered: desktops would go to the first one that has."""
        for name in (N7.name, N8.name):
            await self.node(name, lambda _: True)

    def hold_starts(self) -> None:
        """Let starts wait until they are released."""
        for gate in (self.n7, self.n8):
            gate.starts.clear()

    def release_starts(self) -> None:
        for gate in (self.n7, self.n8):
            gate.starts.set()

    async def order(self, *ids: str, **more: Any) -> None:
        for one in ids:
            await self.store.write(partial(_order, desktop_id=one, more=more))

    async def row(self, desktop_id: str) -> DesktopRow:
        while True:
            # The first reads after a restart of the server fail.
            with suppress(StoreUnavailable):
                found = await self.store.read(lambda s: desktops.get(s, desktop_id))
                assert found is not None
                return found
            await asyncio.sleep(0.05)

    async def until(self, desktop_id: str, check: Callable[[DesktopRow], bool]) -> DesktopRow:
        while True:
            found = await self.row(desktop_id)
            if check(found):
                return found
            await asyncio.sleep(0.05)

    async def state(self, desktop_id: str, state: str) -> DesktopRow:
        return await self.until(desktop_id, lambda row: row.state == state)

    async def node(self, name: str, check: Callable[[NodeRow], bool]) -> NodeRow:
        while True:
            for row in await self.store.read(nodes.every):
                if row.name == name and check(row):
                    return row
            await asyncio.sleep(0.05)


async def _order(session: AsyncSession, desktop_id: str, more: dict[str, Any]) -> None:
    wanted = {"id": desktop_id, **more}
    await desktops.order(session, desktop_id, None, wanted, next(ORDERED))


async def eventually(check: Callable[[], bool]) -> None:
    while not check():  # noqa: ASYNC110 - of objects without an event
        await asyncio.sleep(0.05)


def played(url: str, folder: Path, scenario: Callable[[Placing], Awaitable[None]]) -> None:
    cluster = Cluster(folder)
    n7, n8 = FakeGate(N7.name, cluster.n7), FakeGate(N8.name, cluster.n8)

    async def main() -> None:
        async with asyncio.timeout(LIMIT), await Store.open(url) as store, gates(n7, n8):
            await scenario(Placing(url, store, n7, n8, FakeRooms(n7, n8), cluster))

    asyncio.run(main())


def test_a_desktop_is_started_ended_and_announced(database: str, tmp_path: Path) -> None:
    async def scenario(found: Placing) -> None:
        heard: list[str] = []
        listener = await asyncpg.connect(database)
        await listener.add_listener("deskhand", lambda *received: heard.append(received[-1]))
        async with found.placer():
            await found.order("d1", workdir="w")
            row = await found.state("d1", desktops.READY)
            gate = found.n7 if row.node == "n7" else found.n8
            assert (row.address, row.facts) == (gate.address, {"id": "d1", "status": "ready"})
            assert (row.generation, row.reason, found.rooms.held) == (1, "", {"d1": row.node})
            await found.store.write(
                lambda s: desktops.move(s, "d1", (desktops.READY,), desktops.ENDING)
            )
            await found.state("d1", desktops.ENDED)
            await eventually(lambda: not found.rooms.held)
            assert gate.ended == ["d1"]
        await listener.close()
        notices = {one for payload in heard for one in read_payload(payload)[1]}
        assert {(one.kind, one.chat_id) for one in notices} == {("desktops", "d1")}
        assert all(json.loads(payload)[0].startswith("placer ") for payload in heard)

    played(database, tmp_path, scenario)


def test_a_desktop_that_has_just_ended_is_not_taken_for_a_strangers(
    database: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario(found: Placing) -> None:
        async with found.placer():
            await found.order("d1")
            row = await found.state("d1", desktops.READY)
            gate = found.n7 if row.node == "n7" else found.n8
            await eventually(lambda: gate.asked > 1)
            await found.store.write(
                lambda s: desktops.move(s, "d1", (desktops.READY,), desktops.ENDING)
            )
            await found.state("d1", desktops.ENDED)
            asked = gate.asked
            await eventually(lambda: gate.asked > asked)
            assert gate.asked_to_end == {"d1": 1}
            # One that comes from elsewhere is ended, and logged once.
            gate.desktops["d9"] = {"id": "d9", "status": "ready"}
            await eventually(lambda: gate.asked_to_end["d9"] == 1)
            assert [one for one in caplog.messages if "not its own" in one] == [
                f"node {gate.name} ends desktop d9, which is not its own"
            ]

    played(database, tmp_path, scenario)


def test_desktops_are_spread_over_nodes_until_there_is_no_room(
    database: str, tmp_path: Path
) -> None:
    async def scenario(found: Placing) -> None:
        found.n7.places, found.n8.places = 2, 1
        async with found.placer():
            await found.order("a", "b", "c")
            # A place is taken as soon as a start is decided.
            for one in "abc":
                await found.state(one, desktops.READY)
            await found.order("d", "e")
            room = "no room: 2 nodes, 0 of 3 places free; {} before you"
            await found.until("d", lambda row: row.reason == room.format(0))
            await found.until("e", lambda row: row.reason == room.format(1))
            assert (len(found.n7.desktops), len(found.n8.desktops)) == (2, 1)
            await found.store.write(
                lambda s: desktops.move(s, "a", (desktops.READY,), desktops.ENDING)
            )
            await found.state("d", desktops.READY)

    played(database, tmp_path, scenario)


def test_a_node_whose_starts_fail_gets_no_more(database: str, tmp_path: Path) -> None:
    async def scenario(found: Placing) -> None:
        found.n7.refusal = (409, "not_started", "no X server")
        found.n8.places = 6
        async with found.placer():
            await found.answered()
            ids = [f"d{number}" for number in range(6)]
            await found.order(*ids)
            for one in ids:
                assert (await found.state(one, desktops.READY)).node == "n8"
            await found.order("more")
            await found.node("n7", lambda row: row.failures >= 5 and row.refused_until > 0)
            row = await found.until("more", lambda row: "refuses" in row.reason)
            room = r"no room: 1 node, 0 of 6 places free; 0 before you; node n7 refuses: "
            assert re.fullmatch(room + r"\d starts failed, last: no X server", row.reason)

    played(database, tmp_path, scenario)


def test_an_order_that_no_node_accepts_is_refused_at_once(database: str, tmp_path: Path) -> None:
    async def scenario(found: Placing) -> None:
        found.n7.refusal = found.n8.refusal = (400, "bad_template", "there is no browser X")
        async with found.placer():
            await found.order("d")
            row = await found.state("d", desktops.REFUSED)
            assert (row.reason, row.generation) == ("there is no browser X", 1)
            assert (await found.node("n7", lambda row: True)).failures == 0

    played(database, tmp_path, scenario)


@pytest.mark.slow("it pauses between attempts")
def test_a_desktop_is_refused_after_three_failed_starts(database: str, tmp_path: Path) -> None:
    async def scenario(found: Placing) -> None:
        found.n7.refusal = found.n8.refusal = (409, "not_started", "no X server")
        async with found.placer():
            await found.order("d")
            row = await found.state("d", desktops.REFUSED)
            assert (row.reason, row.generation) == ("no X server", 3)

    played(database, tmp_path, scenario)


def test_a_node_on_which_ray_hangs_is_left_out(database: str, tmp_path: Path) -> None:
    async def scenario(found: Placing) -> None:
        found.rooms.hung.add("n7")
        found.n8.places = 3
        async with found.placer():
            await found.answered()
            await found.order("a", "b")
            for one in "ab":
                assert (await found.state(one, desktops.READY)).node == "n8"
            await found.node("n7", lambda row: "reserved no room" in row.reason)
            assert not found.n7.started

    played(database, tmp_path, scenario)


@pytest.mark.slow("a node is left out for five seconds")
def test_a_node_on_which_ray_was_slow_once_gets_desktops_soon(
    database: str, tmp_path: Path
) -> None:
    async def scenario(found: Placing) -> None:
        found.rooms.hung.add("n7")
        found.n8.places = 1
        async with found.placer():
            await found.answered()
            await found.order("a")
            assert (await found.state("a", desktops.READY)).node == "n8"
            await found.node("n7", lambda row: "reserved no room" in row.reason)
            found.rooms.hung.clear()
            async with asyncio.timeout(LIMIT / 2):
                await found.order("b")
                assert (await found.state("b", desktops.READY)).node == "n7"

    played(database, tmp_path, scenario)


def test_without_ray_desktops_wait_with_the_reason_and_others_end(
    database: str, tmp_path: Path
) -> None:
    async def scenario(found: Placing) -> None:
        async with found.placer():
            await found.order("old")
            await found.state("old", desktops.READY)
            found.rooms.is_gone = True
            await found.order("d")
            await found.until(
                "d", lambda row: row.reason == "Ray does not answer at 127.0.0.1:6379"
            )
            await found.store.write(
                lambda s: desktops.move(s, "old", (desktops.READY,), desktops.ENDING)
            )
            await found.state("old", desktops.ENDED)
            found.rooms.is_gone = False
            await found.state("d", desktops.READY)

    played(database, tmp_path, scenario)


def test_the_desktops_of_a_node_without_power_are_lost_and_replaced(
    database: str, tmp_path: Path
) -> None:
    async def scenario(found: Placing) -> None:
        async with found.placer():
            await found.answered()
            await found.order("a", "b", "c", "d")
            rows = [await found.state(one, desktops.READY) for one in "abcd"]
            there = [row.id for row in rows if row.node == "n7"]
            assert len(there) == 2
            await found.n7.close()
            await found.order("new")
            assert (await found.state("new", desktops.READY)).node == "n8"
            for one in there:
                reason = (await found.state(one, desktops.LOST)).reason
                assert reason == "node n7 has not answered for 1 s"
            for row in rows:
                if row.node == "n8":
                    assert (await found.row(row.id)).state == desktops.READY
            await found.n7.open()
            await eventually(lambda: not found.n7.desktops)
            assert sorted(found.n7.ended) == sorted(there)
            found.n8.places = 0
            await found.node("n7", lambda row: row.reason == "")
            await found.node("n8", lambda row: row.places == 0)
            await found.order("back")
            assert (await found.state("back", desktops.READY)).node == "n7"

    played(database, tmp_path, scenario)


def test_a_desktop_that_has_ended_by_itself_is_lost(database: str, tmp_path: Path) -> None:
    async def scenario(found: Placing) -> None:
        async with found.placer():
            await found.order("d")
            row = await found.state("d", desktops.READY)
            (found.n7 if row.node == "n7" else found.n8).desktops.clear()
            assert "ended by itself" in (await found.state("d", desktops.LOST)).reason

    played(database, tmp_path, scenario)


@pytest.mark.slow("a leader is replaced in the middle of starts")
def test_another_placer_continues_and_nothing_starts_twice(database: str, tmp_path: Path) -> None:
    async def scenario(found: Placing) -> None:
        ids = [f"d{number}" for number in range(20)]
        found.hold_starts()
        async with found.placer() as second:
            await eventually(second.leads)
            async with found.placer() as third:
                await found.order(*ids)
                await found.until("d0", lambda row: row.state == desktops.STARTING)
                assert not third.leads()
                second.kill()
                await eventually(third.leads)
                found.release_starts()
                for one in ids:
                    await found.state(one, desktops.READY)
        started = found.n7.started + found.n8.started
        assert started == dict.fromkeys(ids, 1)
        assert found.n7.ended == found.n8.ended == []
        assert sorted(found.rooms.held) == sorted(ids)

    played(database, tmp_path, scenario)


@pytest.mark.slow("the server restarts")
def test_a_restart_of_the_server_loses_no_desktop(server: PostgresServer, tmp_path: Path) -> None:
    async def scenario(found: Placing) -> None:
        async with found.placer() as placer:
            await found.order("old")
            await found.state("old", desktops.READY)
            found.hold_starts()
            await found.order("a", "b")
            await found.state("a", desktops.STARTING)
            await asyncio.to_thread(server.stop, "fast")
            found.release_starts()
            await eventually(lambda: not placer.leads())
            await asyncio.to_thread(server.start)
            await eventually(placer.leads)
            for one in ("a", "b", "old"):
                assert (await found.state(one, desktops.READY)).generation == 1
        assert found.n7.started + found.n8.started == {"old": 1, "a": 1, "b": 1}
        assert found.n7.ended == found.n8.ended == []

    played(server.database(), tmp_path, scenario)


def test_a_placer_that_reaches_no_node_leaves_them_to_another_one(
    database: str, tmp_path: Path
) -> None:
    async def scenario(found: Placing) -> None:
        async with found.placer() as first:
            await found.answered()
            await found.order("a", "b")
            for one in ("a", "b"):
                await found.state(one, desktops.READY)
            await found.n7.close()
            await found.n8.close()
            with pytest.raises(CutOff):
                await first.task
            await found.n7.open()
            await found.n8.open()
            async with found.placer() as second:
                await eventually(second.leads)
                await found.order("c")
                await found.state("c", desktops.READY)
            for one in ("a", "b"):
                await found.state(one, desktops.READY)
        assert found.n7.ended == found.n8.ended == []

    played(database, tmp_path, scenario)


def test_reservations_that_ray_has_lost_are_made_again(database: str, tmp_path: Path) -> None:
    async def scenario(found: Placing) -> None:
        async with found.placer():
            await found.order("d")
            row = await found.state("d", desktops.READY)
        found.rooms.held = {"over": "n7"}
        async with found.placer():
            await eventually(lambda: found.rooms.held == {"d": row.node})
        assert found.n7.started + found.n8.started == {"d": 1}

    played(database, tmp_path, scenario)
