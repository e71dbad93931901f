"""Dead desktops with recordings, running desktops with recordings that stay, and a chat of them."""

import asyncio
import errno
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.conversation.run_recording import FetchedRecording, StayingRecording, session
from deskhand.tools.recovery.ports import FinishedSession, LeftRecording, Remains
from deskhand.tools.recovery.recovery import RecordingRecovery
from deskhand.tools.store import chats, files, turns
from deskhand.tools.store.database import Store
from deskhand.tools.store.file_store import FileStore
from deskhand.tools.store.files import FileFacts
from deskhand.tools.store.schema import LeftRecordingRow
from deskhand.tools.store.stored_files import StoredFiles
from tests.tools.store.fakes import chat_row, database

LIMIT = 20.0
Json = dict[str, Any]


class FakeRemains:
    """Recordings in folders, as a dead desktop leaves them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lists_locked = self.removals_locked = 0
        """How often the desktop's lock is taken by another desktop that starts."""

    def add(self, desktop_id: str, recording_id: str, data: bytes = b"video") -> None:
        folder = self.folder / desktop_id / recording_id
        folder.mkdir(parents=True)
        (folder / "1.mp4").write_bytes(data)

    def list(self) -> Remains:
        if self.lists_locked:
            self.lists_locked -= 1
            return Remains((), frozenset(path.name for path in self.folder.glob("*")))
        return Remains(
            tuple(
                LeftRecording(path.parent.name, path.name, tuple(sorted(os.listdir(path))))  # noqa: PTH208
                for path in sorted(self.folder.glob("*/*"))
            )
        )

    def open(self, left: LeftRecording, name: str) -> int:
        return os.open(self.folder / left.desktop_id / left.recording_id / name, os.O_RDONLY)

    def remove(self, left: LeftRecording) -> None:
        if self.removals_locked:
            self.removals_locked -= 1
            raise BlockingIOError(errno.EAGAIN, "the desktop is not dead")
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


def take(number: int, started_at: float = 10.0) -> StayingRecording:
    """Return a take of the chat's recording that stayed on its desktop."""
    part = {"index": number, "video_start": 0.0, "bytes": 5, "end_reason": "completed"}
    metadata: Json = {
        "id": "child",
        "take": number,
        "started_at": started_at,
        "video_s": 4.0,
        "end_reason": "completed",
        "complete": True,
        "parts": [part],
        "steps": [],
    }
    return StayingRecording(metadata, "completed")


class FakeRunningDesktops:
    """Copies recordings; its first attempts have the given results."""

    def __init__(self, stored: StoredFiles) -> None:
        self._stored = stored
        self.results: list[FetchedRecording | Exception] = []
        self.fetched: list[int] = []
        self.cleared: list[int] = []
        self.failed = asyncio.Event()
        """Set when an attempt has failed."""
        self.strays: list[str] = []
        self.whole = True

    async def fetch(
        self, chat_id: str, desktop_id: str, staying: StayingRecording
    ) -> FetchedRecording:
        number = staying.metadata["take"]
        self.fetched.append(number)
        facts = FileFacts(
            chat_id, "recording", "a.mp4", "video/mp4", staying.metadata, listed_with="parent"
        )
        view = await self._stored.save(b"video", facts)
        if self.results:
            # The file of this attempt stays, as if a second part had found the disk full.
            self.strays.append(view.id)
            result = self.results.pop(0)
            self.failed.set()
            if isinstance(result, Exception):
                raise result
            return result
        found = session(staying.metadata, [view.id], None)
        return FetchedRecording(found, {}, final=True, whole=self.whole)

    async def clear(self, chat_id: str, desktop_id: str, staying: StayingRecording) -> None:
        self.cleared.append(staying.metadata["take"])


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
        self.running = FakeRunningDesktops(StoredFiles(store, self.disk, lambda: self.time))
        self.recovery = self.successor()

    def successor(self) -> RecordingRecovery:
        """Return another recovery over the same data, as after a restart."""
        made = RecordingRecovery(
            self.store,
            self.disk,
            self.disk.root / "recovering",
            self.remains,
            self._ended,
            lambda: self.finisher,
            lambda: self.time,
            first_delay=0.0,
            late_delay=0.0,
        )
        made.on_stored = self._stored
        made.use(self.running)
        return made

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

    async def end_turn(self) -> None:
        async def end(db: AsyncSession) -> None:
            turn = await turns.current(db, await chats.get(db, "child"))
            assert turn is not None
            turn.status, turn.ended_at = "done", 20.0

        await self.store.write(end)

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
