"""A recording of a real desktop on a node, which the node itself puts into the bucket."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.desktop.network.egress import Egress
from deskhand.tools.agents.chat_recordings.chat_recordings import ChatRecordings
from deskhand.tools.agents.chat_recordings.turn_recording import Recorded
from deskhand.tools.agents.desktops.ports import DesktopMachine
from deskhand.tools.cluster.desktops.cluster_fleet import ClusterFleet
from deskhand.tools.fleet.desktop_order import DesktopOrder
from deskhand.tools.fleet.placement.allocator import DesktopAllocator
from deskhand.tools.store.bucket import Bucket
from deskhand.tools.store.database import Store
from deskhand.tools.store.file_store import FileStore
from deskhand.tools.store.rows import desktops, nodes
from deskhand.tools.store.rows.desktops import READY, WANTED
from deskhand.tools.store.stored_files import StoredFiles
from deskhand.tools.store.upload_queue import UploadQueue
from deskhand.tools.templates.library import TemplateLibrary
from tests.cluster.nodes import Json, Node, node
from tests.system.services import PATIENCE
from tests.tools.cluster.certified import Cluster
from tests.tools.store.fakes import chat_row, database
from tests.tools.store.s3 import S3Requests, make_bucket, s3_service

pytestmark = [pytest.mark.cluster, pytest.mark.x11]

CHAT = "b1111111-2222-3333-4444-555555555555"
LIMIT = 6 * PATIENCE


@pytest.fixture
def service(tmp_path: Path) -> Iterator[tuple[dict[str, str], S3Requests]]:
    log = tmp_path / "s3.log"
    with s3_service(log) as environment:
        make_bucket(environment, "films")
        yield environment, S3Requests(log)


class BucketOutOfReach(Bucket):
    """A bucket whose addresses lead nowhere from a node."""

    async def put_url(self, name: str) -> str:
        return f"http://127.0.0.1:1/{name}"


@dataclass
class Plane:
    """What a control plane stores recordings with; the test plays the placer."""

    store: Store
    machines: DesktopAllocator
    machine: DesktopMachine

    async def recorded(self, files: StoredFiles) -> tuple[Recorded, list[Json]]:
        """Record an action, store the recording, and remove it from the desktop.

        Return also what the desktop has left of it.
        """
        recordings = ChatRecordings(files, _begun)
        recording = recordings.open(CHAT, self.machine, listed_with=CHAT, started=False)
        await recording.ensure()
        action = {"action": "mouse_move", "coordinate": [300, 300]}
        await self.machine.request("POST", "/api/v0/desktop/action", json=action)
        recorded = await recordings.finish(CHAT, "completed", LIMIT)
        await recordings.clear(CHAT)
        left = await self.machine.request("GET", "/api/v0/desktop/recordings")
        return recorded, left["recordings"]


async def _begun(chat_id: str) -> None:
    assert chat_id == CHAT


@asynccontextmanager
async def plane(folder: Path, on: Node) -> AsyncIterator[Plane]:
    """Open a control plane with a desktop on a node."""
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(await Store.open(database(folder / "d.db")))
        address = f"127.0.0.1:{on.port}"
        await store.write(partial(nodes.seen, name="n7", address=address, places=4))

        async def chat(session: AsyncSession) -> None:
            session.add(chat_row(CHAT))

        await store.write(chat)
        templates = TemplateLibrary(folder / "templates")
        fleet = ClusterFleet(store, on.cluster.plane, lambda one: f"http://p/{one}", templates)
        await stack.enter_async_context(fleet)
        machines = DesktopAllocator(fleet)
        starting = asyncio.create_task(
            machines.acquire(CHAT, name="d", root_id=CHAT, egress=Egress())
        )
        await _place(store, fleet, on)
        desktop_id = await starting
        yield Plane(store, machines, machines.machine(desktop_id, CHAT, ()))


async def _place(store: Store, fleet: ClusterFleet, on: Node) -> None:
    """Start the desktop that is wanted on a node, as the placer does."""
    order = await _ordered(store)
    answer = await asyncio.to_thread(on.ask, "POST", "/desktops", json=order.to_json())
    assert answer.status_code == 200, answer.text
    place = {"node": "n7", "address": f"127.0.0.1:{on.port}", "facts": answer.json()}
    move = partial(desktops.move, desktop_id=order.id, before=desktops.LIVING, state=READY, **place)
    assert await store.write(move)
    fleet.reported()


async def _ordered(store: Store) -> DesktopOrder:
    while True:
        for row in await store.read(desktops.living):
            if row.state == WANTED:
                return DesktopOrder.of_json(row.wanted)
        await asyncio.sleep(0.01)


@pytest.mark.slow("starts a node and a desktop that records twice")
def test_a_recording_goes_from_its_node_to_the_bucket(
    service: tuple[dict[str, str], S3Requests], tmp_path: Path
) -> None:
    environment, requests = service

    async def direct(p: Plane) -> None:
        # No file can be written there: what is downloaded could not be stored.
        disk = FileStore(tmp_path / "full", moves=True)
        disk.root.write_bytes(b"")
        bucket = Bucket("s3://films", environment)
        files = StoredFiles(p.store, disk, lambda: 5.0, UploadQueue(disk, bucket))
        recorded, left = await p.recorded(files)
        assert (recorded.status, recorded.warning) == ("stored", None)
        assert recorded.complete
        ids = [*recorded.file_ids, str(recorded.thumbnail_file_id)]
        stored = [await files.get(one) for one in ids]
        assert [one.waits for one in stored] == [False, False]
        other = FileStore(tmp_path / "other", moves=True)
        theirs = StoredFiles(p.store, other, lambda: 5.0, UploadQueue(other, bucket))
        video, picture = [await theirs.load(one) for one in ids]
        assert (video[4:8], picture[:2]) == (b"ftyp", b"\xff\xd8")
        assert [len(video), len(picture)] == [one.size for one in stored]
        assert hashlib.sha256(video).hexdigest() == stored[0].sha256
        # The bytes first, then the description.
        puts = [target.partition("?")[0] for target in requests.of("PUT")][1:]
        places = [f"/films/{one[:2]}/{one}" for one in ids]
        assert puts == [place + end for place in places for end in ("", ".json")]
        assert left == []

    async def fallback(p: Plane) -> None:
        disk = FileStore(tmp_path / "files", moves=True)
        bucket = BucketOutOfReach("s3://films", environment)
        files = StoredFiles(p.store, disk, lambda: 5.0, UploadQueue(disk, bucket))
        recorded, left = await p.recorded(files)
        assert (recorded.status, recorded.warning, left) == ("stored", None, [])
        (video,) = [await files.get(one) for one in recorded.file_ids]
        assert video.waits
        assert disk.path(video.id).stat().st_size == video.size

    async def scenario(on: Node) -> None:
        async with asyncio.timeout(LIMIT), plane(tmp_path, on) as p:
            await direct(p)
            await fallback(p)

    with node(tmp_path, Cluster(tmp_path / "authority")) as found:
        asyncio.run(scenario(found))
