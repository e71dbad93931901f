"""Desktops of nodes as a control plane uses them: rows in a real database, a gate on loopback."""

import asyncio
import gc
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import JSONResponse

from deskhand.desktop.errors import DesktopUnavailable
from deskhand.desktop.network.egress import Egress
from deskhand.tools.cluster.desktops.cluster_fleet import ClusterFleet
from deskhand.tools.conversation.uploaded import UploadedFile
from deskhand.tools.fleet.desktop_order import DesktopOrder
from deskhand.tools.fleet.errors import (
    DesktopNotStarted,
    ProfileTaken,
    UnknownDesktop,
    UnknownProfile,
)
from deskhand.tools.recovery.ports import LeftRecording
from deskhand.tools.store.database import Store
from deskhand.tools.store.rows import desktops, nodes
from deskhand.tools.store.rows.desktops import ENDED, ENDING, LOST, READY, REFUSED, WANTED
from deskhand.tools.templates.library import TemplateLibrary
from tests.tools.cluster.certified import Cluster
from tests.tools.cluster.desktops.gates import FakeGate, facts, gate, until
from tests.tools.store.fakes import database

LIMIT = 60.0


@dataclass
class OpenFleet:
    """A fleet with its database and a gate; the test plays the placer."""

    fleet: ClusterFleet
    store: Store
    gate: FakeGate
    reported: list[str]

    async def ordered(self) -> DesktopOrder:
        """Return the order of the desktop that is wanted, once there is one."""
        while True:
            for row in await self.store.read(desktops.living):
                if row.state == WANTED:
                    return DesktopOrder.of_json(row.wanted)
            await asyncio.sleep(0.01)

    async def move(self, desktop_id: str, state: str, **values: Any) -> None:
        before = desktops.LIVING
        move = partial(desktops.move, desktop_id=desktop_id, before=before, state=state, **values)
        assert await self.store.write(move)
        self.fleet.reported()

    async def place(self, **others: Any) -> str:
        """Place the desktop that is wanted on the node n7; return its id."""
        order = await self.ordered()
        place = {"node": "n7", "address": self.gate.address}
        await self.move(order.id, READY, facts=facts(order.id, **others), **place)
        return order.id

    async def started(self, **wanted: Any) -> str:
        start = asyncio.create_task(self.fleet.start("a desktop", **wanted))
        display = {"has_display": wanted.get("display", True)}
        desktop_id = await self.place(**display, profile=wanted.get("profile") or "")
        assert (await start).id == desktop_id
        return desktop_id

    async def ended(self, desktop_id: str) -> None:
        """End the desktop that is asked to end."""
        while True:
            row = await self.store.read(partial(desktops.get, desktop_id=desktop_id))
            if row is not None and row.state == ENDING:
                return await self.move(desktop_id, ENDED)
            await asyncio.sleep(0.01)


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[OpenFleet]:
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(await Store.open(database(folder / "d.db")))
        cluster = Cluster(folder)
        fake = await stack.enter_async_context(gate(cluster))
        await store.write(partial(nodes.seen, name="n7", address=fake.address, places=4))
        templates = TemplateLibrary(folder / "templates")
        fleet = ClusterFleet(store, cluster.plane, lambda d: f"http://p/desktops/{d}", templates)
        reported: list[str] = []
        fleet.report = reported.append
        fleet.leads = lambda: True
        await stack.enter_async_context(fleet)
        yield OpenFleet(fleet, store, fake, reported)


def play(folder: Path, scenario: Callable[[OpenFleet], Awaitable[None]]) -> None:
    async def main() -> None:
        async with asyncio.timeout(LIMIT), opened(folder) as found:
            await scenario(found)

    asyncio.run(main())


def test_a_desktop_is_ordered_and_used_through_its_gate(tmp_path: Path) -> None:
    async def scenario(f: OpenFleet) -> None:
        seen: list[str] = []
        f.fleet.on_start = seen.append
        start = asyncio.create_task(
            f.fleet.start("Search", "chat-1", Egress("none"), workdir="root", speak=("cdp",))
        )
        order = await f.ordered()
        assert (order.name, order.chat_id, order.workdir) == ("Search", "chat-1", "root")
        assert (order.egress or {})["mode"] == "none"
        await until(lambda: f.fleet.position("chat-1") == 1)
        assert not f.fleet.known(order.id)
        with pytest.raises(UnknownDesktop):
            f.fleet.client(order.id)
        await f.place()
        info = await start
        assert (info.id, info.status, info.size) == (order.id, "ready", (1920, 1080))
        assert info.live_url == f"http://p/desktops/{order.id}"
        assert f.reported == [order.id]
        assert seen == [order.id]
        assert f.fleet.position("chat-1") is None
        answer = await f.fleet.client(order.id).request("GET", "/api/v0/desktop")
        assert answer == {"desktop": order.id}
        assert [one.id for one in await f.fleet.list()] == [order.id]
        assert f.fleet.chat_of(order.id) == "chat-1"
        assert f.fleet.spawns.count == 1

    play(tmp_path, scenario)


def test_a_refused_desktop_is_not_started_for_the_reason_of_the_placer(tmp_path: Path) -> None:
    async def scenario(f: OpenFleet) -> None:
        start = asyncio.create_task(f.fleet.start())
        order = await f.ordered()
        await f.move(order.id, REFUSED, reason="no room: 1 nodes, 0 of 4 places free")
        with pytest.raises(DesktopNotStarted, match="0 of 4 places free"):
            await start
        assert f.fleet.spawns.failed == 1

    play(tmp_path, scenario)


def test_a_start_that_is_cancelled_ends_its_desktop(tmp_path: Path) -> None:
    async def scenario(f: OpenFleet) -> None:
        start = asyncio.create_task(f.fleet.start())
        order = await f.ordered()
        start.cancel()
        with pytest.raises(asyncio.CancelledError):
            await start
        row = await f.store.read(partial(desktops.get, desktop_id=order.id))
        assert row is not None
        assert row.state == ENDING

    play(tmp_path, scenario)


def test_a_desktop_that_a_killed_control_plane_has_ordered_for_a_chat_is_the_chats(
    tmp_path: Path,
) -> None:
    async def scenario(f: OpenFleet) -> None:
        order = DesktopOrder("0000aaaa", "theirs", "chat-2")
        ordered: dict[str, Any] = {"desktop_id": order.id, "chat_id": "chat-2"}
        wanted = order.to_json()
        await f.store.write(partial(desktops.order, **ordered, wanted=wanted, created_at=5.0))
        start = asyncio.create_task(f.fleet.start("ours", "chat-2"))
        assert await f.place() == order.id
        assert (await start).id == order.id
        # One with another display is another desktop.
        other = asyncio.create_task(f.fleet.start("ours", "chat-2", display=False))
        assert await f.place(has_display=False) != order.id
        await other

    play(tmp_path, scenario)


class HeldStore:
    """A store whose next reading of rows is answered late, with what it has read early."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.held, self.answer = asyncio.Event(), asyncio.Event()

    async def read(self, work: Callable[..., Any]) -> Any:
        found = await self._store.read(work)
        if work is desktops.living and not self.held.is_set():
            self.held.set()
            await self.answer.wait()
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def test_a_late_reading_does_not_replace_a_newer_one(tmp_path: Path) -> None:
    async def scenario(f: OpenFleet) -> None:
        held = HeldStore(f.store)
        templates = TemplateLibrary(tmp_path / "templates")
        (tmp_path / "other").mkdir()
        cluster = Cluster(tmp_path / "other")
        opening = ClusterFleet(held, cluster.plane, str, templates)  # type: ignore[arg-type]
        entered = asyncio.create_task(opening.__aenter__())
        await held.held.wait()
        started = await f.started(chat_id="chat-3")
        located = [asyncio.create_task(opening.locate(started)) for _ in range(3)]
        await asyncio.sleep(0)
        held.answer.set()
        for one in located:
            await one
            assert opening.known(started)
        await entered
        assert opening.known(started)
        await opening.__aexit__(None)

    play(tmp_path, scenario)


def test_a_fleet_that_ends_as_soon_as_it_has_begun_leaves_no_work(tmp_path: Path) -> None:
    async def scenario(f: OpenFleet) -> None:
        (tmp_path / "other").mkdir()
        tls = Cluster(tmp_path / "other").plane
        async with ClusterFleet(f.store, tls, str, TemplateLibrary(tmp_path / "templates")):
            pass
        # A coroutine that nothing has awaited is reported when it is collected.
        gc.collect()

    play(tmp_path, scenario)


def test_a_desktop_of_another_control_plane_is_found_at_once(tmp_path: Path) -> None:
    async def scenario(f: OpenFleet) -> None:
        order = DesktopOrder("0000aaaa", "theirs", "chat-2")
        ordered: dict[str, Any] = {
            "desktop_id": order.id,
            "chat_id": "chat-2",
            "wanted": order.to_json(),
        }
        await f.store.write(partial(desktops.order, **ordered, created_at=5.0))
        ready: dict[str, Any] = {"node": "n7", "address": f.gate.address, "facts": facts(order.id)}
        move = partial(desktops.move, desktop_id=order.id, before=(WANTED,), state=READY, **ready)
        await f.store.write(move)
        # No report has come.
        await f.fleet.locate(order.id)
        assert f.fleet.known(order.id)
        assert f.fleet.chat_of(order.id) == "chat-2"

    play(tmp_path, scenario)


def test_a_desktop_is_ended_by_the_placer(tmp_path: Path) -> None:
    async def scenario(f: OpenFleet) -> None:
        over: list[str] = []
        f.fleet.on_end = over.append
        desktop_id = await f.started()
        await asyncio.gather(f.fleet.stop(desktop_id), f.ended(desktop_id))
        assert not f.fleet.known(desktop_id)
        assert over == [desktop_id]
        with pytest.raises(UnknownDesktop):
            await f.fleet.stop(desktop_id)

    play(tmp_path, scenario)


def test_a_lost_desktop_has_ended_when_its_node_can_be_asked(tmp_path: Path) -> None:
    async def scenario(f: OpenFleet) -> None:
        desktop_id = await f.started()
        ended = asyncio.create_task(f.fleet.ended(desktop_id))
        await f.store.write(partial(nodes.change, name="n7", seen_at=0.0))
        await f.move(desktop_id, LOST, reason="its node n7 does not answer")
        await until(lambda: not f.fleet.known(desktop_id))
        assert not ended.done()
        await f.store.write(partial(nodes.seen, name="n7"))
        f.fleet.reported()
        await ended

    play(tmp_path, scenario)


def test_a_request_to_a_desktop_ends_when_it_is_lost_with_its_node(tmp_path: Path) -> None:
    async def scenario(f: OpenFleet) -> None:
        desktop_id = await f.started()
        client = f.fleet.client(desktop_id)
        request = asyncio.create_task(client.request("GET", "/held", timeout=2 * LIMIT))
        await until(lambda: f.gate.asked[-1:] == [f"GET /desktops/{desktop_id}/held"])
        await f.store.write(partial(nodes.change, name="n7", seen_at=0.0))
        await f.move(desktop_id, LOST, reason="its node n7 does not answer")
        with pytest.raises(DesktopUnavailable):
            await request
        # The node may be back for others.
        assert await f.fleet.profiles.all() == ()

    play(tmp_path, scenario)


def test_a_display_is_started_at_the_gate(tmp_path: Path) -> None:
    async def scenario(f: OpenFleet) -> None:
        desktop_id = await f.started(display=False)
        assert not f.fleet.has_display(desktop_id)
        before = f.fleet.states()
        await f.fleet.show(desktop_id)
        assert f.fleet.has_display(desktop_id)
        assert f.fleet.states() != before
        assert f"POST /desktops/{desktop_id}/display" in f.gate.asked
        with pytest.raises(UnknownDesktop):
            await f.fleet.show("0000aaaa")

    play(tmp_path, scenario)


def test_profiles_of_nodes_are_listed_and_removed(tmp_path: Path) -> None:
    async def scenario(f: OpenFleet) -> None:
        f.gate.profiles = [
            {"name": name, "bytes": 1, "used_at": 1.0, "holder": ""} for name in ("work", "home")
        ]
        assert [one.name for one in await f.fleet.profiles.all()] == ["home", "work"]
        desktop_id = await f.started(profile="work")
        with pytest.raises(ProfileTaken, match=desktop_id):
            await f.fleet.start(profile="work")
        with pytest.raises(ProfileTaken):
            await f.fleet.profiles.remove("work")
        await f.fleet.profiles.remove("home")
        assert [one["name"] for one in f.gate.profiles] == ["work"]
        with pytest.raises(UnknownProfile):
            await f.fleet.profiles.remove("home")

    play(tmp_path, scenario)


def test_what_a_dead_desktop_left_is_copied_from_its_node(tmp_path: Path) -> None:
    async def scenario(f: OpenFleet) -> None:
        f.gate.left = [{"desktop_id": "d1", "recording_id": "c1", "files": ["part-0.mp4"]}]
        f.gate.files = {"part-0.mp4": b"video"}
        remains = f.fleet.remains
        f.gate.ending = ["d3"]
        found = await asyncio.to_thread(remains.list)
        assert found.ending == {"d3"}
        (left,) = found.recordings
        assert left == LeftRecording("d1", "c1", ("part-0.mp4",))
        descriptor = await asyncio.to_thread(remains.open, left, "part-0.mp4")
        with os.fdopen(descriptor, "rb") as copy:
            assert copy.read() == b"video"
        with pytest.raises(OSError, match="not found"):
            await asyncio.to_thread(remains.open, left, "none.mp4")
        await asyncio.to_thread(remains.remove, left)
        assert (await asyncio.to_thread(remains.list)).recordings == ()
        unknown = LeftRecording("d2", "c1", ())
        with pytest.raises(FileNotFoundError, match="d2"):
            await asyncio.to_thread(remains.remove, unknown)

    play(tmp_path, scenario)


def crowdings() -> tuple[
    "asyncio.Queue[tuple[frozenset[str], int]]", Callable[[frozenset[str], int], Awaitable[None]]
]:
    """Return a queue of the requests to end desktops at rest, and what takes them."""
    found: asyncio.Queue[tuple[frozenset[str], int]] = asyncio.Queue()

    async def put(desktop_ids: frozenset[str], most: int) -> None:
        await found.put((desktop_ids, most))

    return found, put


def test_desktops_at_rest_are_released_while_one_waits_for_room(tmp_path: Path) -> None:
    async def scenario(f: OpenFleet) -> None:
        released, released_some = crowdings()
        f.fleet.on_crowded = released_some
        first = await f.started()
        second = await f.started()
        start = asyncio.create_task(f.fleet.start())
        order = await f.ordered()
        await f.move(order.id, WANTED, full_nodes=["n7", "n8"])
        assert await released.get() == (frozenset([first, second]), 1)
        start.cancel()
        await asyncio.gather(start, return_exceptions=True)

    play(tmp_path, scenario)


def test_desktops_at_rest_leave_a_node_that_is_drained(tmp_path: Path) -> None:
    async def scenario(f: OpenFleet) -> None:
        released, released_some = crowdings()
        f.fleet.on_crowded = released_some
        first = await f.started()
        await f.store.write(partial(nodes.change, name="n7", draining=True))
        f.fleet.reported()
        assert await released.get() == (frozenset([first]), 1)

    play(tmp_path, scenario)


def test_workdirs_are_removed_on_all_nodes(tmp_path: Path) -> None:
    async def scenario(f: OpenFleet) -> None:
        await f.fleet.forget_workdir("root-1")
        assert f.gate.asked == ["DELETE /workdirs/root-1"]

    play(tmp_path, scenario)


def test_only_the_control_plane_that_leads_follows_desktops(tmp_path: Path) -> None:
    async def scenario(f: OpenFleet) -> None:
        seen: list[str] = []
        f.fleet.on_start = f.fleet.on_end = seen.append
        f.fleet.leads = lambda: False
        desktop_id = await f.started()
        await f.move(desktop_id, LOST)
        await until(lambda: not f.fleet.known(desktop_id))
        assert seen == []

    play(tmp_path, scenario)


def test_files_of_desktops_are_uploaded_by_their_nodes(tmp_path: Path) -> None:
    async def scenario(found: OpenFleet) -> None:
        fleet = found.fleet
        desktop_id = await found.started()
        place = ("/api/v0/desktop/recordings/c1/thumbnail", "http://bucket/key")
        # A node that does not reach the bucket.
        assert await fleet.uploads.put(desktop_id, *place) is None
        digest = "0123456789abcdef" * 4
        for answer, taken in (
            ({"size": 4, "sha256": digest}, UploadedFile(4, digest)),
            ({"size": -4, "sha256": digest}, None),
            ({"size": 4, "sha256": "<b>"}, None),
            ([], None),
        ):
            found.gate.uploaded = JSONResponse(answer)
            assert await fleet.uploads.put(desktop_id, *place) == taken
        order = {"desktop_id": desktop_id, "path": place[0], "put_url": place[1], "headers": {}}
        assert found.gate.uploads == [order] * 5
        assert await fleet.uploads.put("unknown", *place) is None
        assert len(found.gate.uploads) == 5

    play(tmp_path, scenario)
