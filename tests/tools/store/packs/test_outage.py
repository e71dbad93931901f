"""Agents at work while the bucket is away: nothing stops, and nothing fills the disk."""

import asyncio
import socket
from contextlib import ExitStack
from pathlib import Path

import pytest

from deskhand.recording.disk.meter import DiskMeter
from deskhand.recording.free_space import GIB, DiskSpace
from deskhand.tools.control_plane.routes.system import waiting
from deskhand.tools.store.bucket import Bucket
from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import DiskLow
from deskhand.tools.store.faults.reserve import StoreReserve
from deskhand.tools.store.files import kept as kept_files
from deskhand.tools.store.maintenance import StorageMaintenance
from deskhand.tools.store.retention import RetentionLimits
from deskhand.tools.store.stored_files import StoredFiles
from tests.tools.agents.chats.fakes import Block, OpenChats, ScriptedModel, act, open_chats, report
from tests.tools.store.packs.places import Clock, Place
from tests.tools.store.s3 import S3Requests, make_bucket, s3_service

STEPS = 12
SPAWN = "spawn_computer_use_agent"


class Ticking(Clock):
    """A clock of which no two times are the same."""

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


class Room(DiskMeter):
    """A disk whose free space the test sets."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.free = 10 * GIB

    def space(self) -> DiskSpace:
        return DiskSpace(self.free, 100 * GIB)


@pytest.fixture
def port() -> int:
    """A port at which no service listens yet."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        found: int = taken.getsockname()[1]
    return found


async def agent(chats: OpenChats) -> str:
    """Let an agent work to its report; return its chat."""
    caller = await chats.caller()
    chat_id: str = (await chats.tool(SPAWN, caller, prompt="Go"))["chat_id"]
    result = await chats.tool("wait_agent", caller, chat_id=chat_id)
    assert result["report"] == "Done."
    return chat_id


def model() -> ScriptedModel:
    steps: list[list[Block]] = [[act("left_click", coordinate=[n, n])] for n in range(STEPS)]
    return ScriptedModel([*steps, [report("Done.")]] * 3)


def test_turns_continue_while_files_wait_and_then_all_are_stored(tmp_path: Path, port: int) -> None:
    environment = {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": "name",
        "AWS_SECRET_ACCESS_KEY": "word",
    }
    room = Room(tmp_path)
    places: list[Place] = []

    def stored(store: Store) -> StoredFiles:
        bucket = Bucket("s3://films/library", environment)
        places.append(Place(store, tmp_path / "files", bucket, Ticking()))
        return places[0].files

    async def scenario(stack: ExitStack) -> None:
        opening = open_chats(
            *(tmp_path, {"child": model()}),
            stored=stored,
            reserve=StoreReserve(tmp_path, meter=room),
        )
        async with opening as chats:
            (place,) = places
            moving = asyncio.create_task(place.queue.run())
            # Turns continue: two agents end with their reports and recordings.
            first, second = await agent(chats), await agent(chats)
            view = await chats.chats.get(first)
            assert view.recording_status == "stored"
            # All their files wait, readable here, and the report of the system counts them.
            known = await place.store.read(kept_files)
            assert {kept.kind for kept in known} >= {"step", "recording"}
            assert all(kept.waits for kept in known)
            (shown,) = waiting(known)
            assert (shown.name, shown.files) == ("not in the bucket yet", len(known))
            assert shown.bytes == sum(kept.size for kept in known) > 0
            for kept in known:
                assert len(await place.files.load(kept.id)) == kept.size
            # The disk: limits on pictures hold, and on little room nothing new is stored.
            limits = RetentionLimits(step_bytes=1)
            folder = place.disk.root
            library = StorageMaintenance(
                *(place.store, folder, place.clock, limits), upload_queue=place.queue
            )
            gone = await library.enforce_limits()
            assert not any(place.disk.path(kept.id).exists() for kept in gone)
            assert len(place.disk.packs()) <= 1
            room.free = 1
            with pytest.raises(DiskLow, match="the disk is almost full"):
                await place.files.check_room()
            third = await agent(chats)
            assert (await chats.chats.get(third)).recording_status != "stored"
            room.free = 10 * GIB
            # The bucket is back.
            log = tmp_path / "log"
            make_bucket(stack.enter_context(s3_service(log, port)), "films")
            moving.cancel()
            await asyncio.gather(moving, return_exceptions=True)
            await place.queue.move()
            # Copies are removed by the scan after the upload.
            await place.queue.move()
            assert place.is_moved()
            assert not any(kept.waits for kept in await place.store.read(kept_files))
            for kept in await place.store.read(kept_files):
                assert len(await place.files.load(kept.id)) == kept.size
            puts = [name for name in S3Requests(log).of("PUT") if name.endswith(".pack")]
            assert len(puts) <= 3 * len({first, second, third})

    with ExitStack() as stack:
        asyncio.run(asyncio.wait_for(scenario(stack), 60))
