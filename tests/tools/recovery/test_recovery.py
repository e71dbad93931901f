import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.recovery.ports import FinishedSession, LeftRecording
from deskhand.tools.recovery.recovery import RecordingRecovery
from deskhand.tools.recovery.states import OWNERLESS_SECONDS
from deskhand.tools.store import chats, files, turns
from deskhand.tools.store.database import Store
from deskhand.tools.store.file_store import FileStore
from deskhand.tools.store.schema import LeftRecordingRow
from tests.tools.store.fakes import chat_row, database

LIMIT = 20.0
Json = dict[str, Any]


class FakeRemains:
    """Recordings in folders, as a dead desktop leaves them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(self, desktop_id: str, recording_id: str, data: bytes = b"video") -> None:
        folder = self.folder / desktop_id / recording_id
        folder.mkdir(parents=True)
        (folder / "1.mp4").write_bytes(data)

    def list(self) -> Sequence[LeftRecording]:
        return [
            LeftRecording(path.parent.name, path.name, tuple(sorted(os.listdir(path))))  # noqa: PTH208
            for path in sorted(self.folder.glob("*/*"))
        ]

    def open(self, left: LeftRecording, name: str) -> int:
        return os.open(self.folder / left.desktop_id / left.recording_id / name, os.O_RDONLY)

    def remove(self, left: LeftRecording) -> None:
        shutil.rmtree(self.folder / left.desktop_id / left.recording_id, ignore_errors=True)


class FakeFinisher:
    """Takes each video as one session; raises the given errors first."""

    def __init__(self) -> None:
        self.errors: list[Exception] = []
        self.readable = True

    def __call__(self, folder: Path, recording_id: str) -> tuple[FinishedSession, ...]:
        if self.errors:
            raise self.errors.pop(0)
        if not self.readable:
            return ()
        videos = tuple(sorted((folder / recording_id).glob("*.mp4")))
        parts = [
            {"index": 1, "video_start": 0.0, "bytes": 0, "end_reason": "service_lost"}
            for _ in videos
        ]
        metadata: Json = {
            "id": recording_id,
            "take": 1,
            "started_at": 10.0,
            "video_s": 4.0,
            "end_reason": "service_lost",
            "complete": False,
            "parts": parts,
            "steps": [],
        }
        return (FinishedSession(metadata, videos, None),)


class Bench:
    """A chat with an ended turn, whose desktop is dead."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.store = store
        self.remains = FakeRemains(folder / "desktops")
        self.finisher = FakeFinisher()
        self.dead = asyncio.Event()
        self.time = 100.0
        self.published = asyncio.Event()
        self.disk = FileStore(folder / "files")
        self.recovery = RecordingRecovery(
            store,
            self.disk,
            folder / "files" / "recovering",
            self.remains,
            self._ended,
            lambda: self.finisher,
            lambda: self.time,
            first_delay=0.0,
        )
        self.recovery.on_stored = self._stored

    async def _ended(self, _: str) -> None:
        await self.dead.wait()

    async def _stored(self, chat_id: str) -> None:
        assert chat_id == "child"
        self.published.set()

    async def settle(self, seconds: float = LIMIT) -> str:
        return await self.recovery.settle("child", ["d"], seconds)

    async def recording(self) -> Json:
        async def read(db: AsyncSession) -> Json:
            turn = await turns.current(db, await chats.get(db, "child"))
            return turn.recording if turn else {}

        return await self.store.read(read)

    async def states(self) -> list[str]:
        return list(await self.store.read(lambda db: db.scalars(select(LeftRecordingRow.state))))

    async def listed(self) -> list[str]:
        found = await self.store.read(lambda db: files.of_chat(db, "parent"))
        return [file.id for file in found]


@asynccontextmanager
async def bench(folder: Path) -> AsyncIterator[Bench]:
    async def rows(db: AsyncSession) -> None:
        db.add(chat_row("parent"))
        await db.flush()
        child = chat_row("child", parent="parent")
        db.add(child)
        await db.flush()
        await turns.begin(db, child, 5.0)

    async with await Store.open(database(folder / "deskhand.db")) as store, asyncio.timeout(LIMIT):
        await store.write(rows)
        made = Bench(store, folder)
        try:
            yield made
        finally:
            await made.recovery.close()


def test_a_recording_that_takes_too_long_is_stored_later_with_an_event(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            b.remains.add("d", "child")
            b.finisher.errors = [OSError("the disk is full")]
            assert await b.settle(0.0) == "pending"
            b.dead.set()
            await b.published.wait()
            stored = await b.recording()
            assert (stored["status"], stored["end_reason"]) == ("stored", "service_lost")
            assert await b.listed() == stored["file_ids"]
            assert await b.settle() == "stored"
            assert await b.states() == ["removed"]
            assert b.remains.list() == []

    asyncio.run(scenario())


def test_a_recording_that_stayed_on_its_desktop_is_stored_when_that_has_ended(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            await b.recovery.leave("child", "d")
            await b.recovery.leave("child", "d")
            assert await b.states() == ["left"]
            b.remains.add("d", "child")
            b.dead.set()
            await b.published.wait()
            assert (await b.recording())["status"] == "stored"
            assert await b.settle() == "stored"
            assert await b.states() == ["removed"]

    asyncio.run(scenario())


def test_a_desktop_that_left_nothing_has_none(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            b.dead.set()
            assert await b.settle() == "none"
            assert await b.recovery.settle("child", [], LIMIT) == "none"

    asyncio.run(scenario())


def test_a_video_that_cannot_be_read_is_removed(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            b.remains.add("d", "child")
            b.finisher.readable = False
            b.dead.set()
            assert await b.settle() == "none"
            assert await b.states() == ["removed"]
            assert b.remains.list() == []

    asyncio.run(scenario())


def test_a_session_that_the_turn_has_is_not_stored_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            b.dead.set()
            b.remains.add("d", "child")
            assert await b.settle() == "stored"
            before = await b.recording()
            # The same session again, as if its desktop had died before its copy was removed.
            b.remains.add("e", "child")
            assert await b.recovery.settle("child", ["e"], LIMIT) == "stored"
            assert await b.recording() == before
            assert await b.listed() == before["file_ids"]
            assert len([one for one in b.disk.stamps()]) == 1  # noqa: C416

    asyncio.run(scenario())


@pytest.mark.parametrize("age", [0.0, OWNERLESS_SECONDS])
def test_a_recording_without_owner_stays_for_a_day(tmp_path: Path, age: float) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            b.dead.set()
            b.remains.add("d", "nobody")
            await b.recovery.settle("nobody", ["d"], LIMIT)
            assert await b.states() == ["left"]
            b.time += age
            await b.recovery.begin_all()
            await b.recovery.settle("nobody", ["d"], LIMIT)
            assert await b.states() == (["removed"] if age else ["left"])
            assert bool(b.remains.list()) is not bool(age)

    asyncio.run(scenario())
