"""A database, a disk and a bucket with the pictures of the steps of some chats."""

import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.store.bucket import Bucket
from deskhand.tools.store.database import Store
from deskhand.tools.store.file_store import FileStore
from deskhand.tools.store.files import FileFacts, finish_waiting
from deskhand.tools.store.maintenance import StorageMaintenance
from deskhand.tools.store.retention import RetentionLimits
from deskhand.tools.store.rows import planes
from deskhand.tools.store.rows.packed_pictures import PackedPictureRows
from deskhand.tools.store.schema import ChatRow, TurnRow
from deskhand.tools.store.stored_files import StoredFiles
from deskhand.tools.store.tables.held_pictures import HeldPictureRow
from deskhand.tools.store.upload_queue import ObjectStore, UploadQueue
from tests.tools.store.fakes import chat_row, database


@dataclass
class Clock:
    """Time that the test sets."""

    now: float = 1_000_000.0

    def __call__(self) -> float:
        return self.now


class Place:
    """What one control plane has: a disk of its own, and the shared database and bucket."""

    def __init__(
        self,
        store: Store,
        folder: Path,
        objects: ObjectStore,
        clock: Clock,
        plane: str | None = None,
    ) -> None:
        self.store = store
        self.clock = clock
        self.objects = objects
        self.disk = FileStore(folder, moves=True)
        self.queue = UploadQueue(
            *(self.disk, objects),
            linger=0,
            uploaded=self._uploaded,
            record_seconds=0,
            pictures=PackedPictureRows(store, plane),
            now=clock,
        )
        self.plane = plane or ""
        self.files = StoredFiles(store, self.disk, clock, self.queue, plane=plane)

    async def picture(self, data: bytes, chat_id: str | None = "c1") -> str:
        """Store a picture of a step, with its row."""
        facts = FileFacts(chat_id, "step", "screenshot.png", "image/png", {"width": 1})
        return (await self.files.save(data, facts)).id

    async def pictures(self, count: int, chat_id: str = "c1") -> dict[str, bytes]:
        """Store so many different pictures; return their bytes by id."""
        made = [b"picture %d of %s" % (n, chat_id.encode()) * (n % 7 + 1) for n in range(count)]
        return {await self.picture(data, chat_id): data for data in made}

    async def beat(self) -> None:
        """Write the heartbeat of this one."""
        await self.store.write(lambda s: planes.beat(s, self.plane, ""))

    async def end(self) -> None:
        """End as a killed one does, for the others; its disk is lost."""
        await self.store.write(lambda s: planes.leave(s, self.plane))
        shutil.rmtree(self.disk.root)

    async def drive(self, chat_id: str = "c1") -> None:
        """Make this one the driver of a chat."""
        driven = update(ChatRow).where(ChatRow.id == chat_id).values(driver=self.plane)
        await self.store.write(lambda s: s.execute(driven))

    async def held(self) -> dict[str, str]:
        """Return the control planes that pack the held pictures, by the ids of these."""
        query = select(HeldPictureRow.file_id, HeldPictureRow.plane)
        found = await self.store.read(lambda s: s.execute(query))
        return {row.file_id: row.plane for row in found}

    async def turn(self, status: str, chat_id: str = "c1", number: int = 1) -> None:
        """Write the newest turn of a chat; the others have ended."""

        async def write(session: AsyncSession) -> None:
            await session.execute(update(TurnRow).values(status="done"))
            row = TurnRow(chat_id=chat_id, number=number, status=status, started_at=0.0)
            session.add(row)

        await self.store.write(write)

    async def end_turns(self) -> None:
        """End all turns."""
        await self.store.write(lambda s: s.execute(update(TurnRow).values(status="done")))

    def maintenance(self, **limits: int) -> StorageMaintenance:
        """Return the maintenance of this one."""
        return StorageMaintenance(
            *(self.store, self.disk.root, self.clock, RetentionLimits(**limits)),
            upload_queue=self.queue,
        )

    def is_moved(self) -> bool:
        """Return True if nothing is on this disk."""
        return not list(self.disk.stamps()) and not self.disk.packs()

    async def read(self, file_id: str, start: int, end: int) -> bytes:
        """Return bytes of a file that is not on this disk."""
        return b"".join([chunk async for chunk in self.files.stream(file_id, start, end)])

    async def waiting(self, file_ids: Sequence[str]) -> int:
        """Return how many files wait for the bucket."""
        found = await self.files.existing(file_ids)
        return sum(file.waits for file in found.values())

    async def _uploaded(self, ids: Sequence[str]) -> frozenset[str]:
        return await self.store.write(lambda session: finish_waiting(session, ids))


@asynccontextmanager
async def places(
    folder: Path,
    *objects: ObjectStore,
    chats: Sequence[str] = ("c1", "c2"),
    url: str = "",
    shared: bool = False,
) -> AsyncIterator[tuple[Place, ...]]:
    """Open a database with chats, and a control plane for each of the object stores.

    With ``shared`` they use the database together, and each has its heartbeat.
    """
    clock = Clock()
    async with await Store.open(url or database(folder / "deskhand.db")) as store:

        async def add(session: AsyncSession) -> None:
            session.add_all([chat_row(chat) for chat in chats])

        await store.write(add)
        made = [
            Place(store, folder / f"disk-{number}", each, clock, f"p{number}" if shared else None)
            for number, each in enumerate(objects)
        ]
        for one in made if shared else ():
            await one.beat()
        yield tuple(made)


def bucket(environment: dict[str, str], name: str) -> Bucket:
    """Return the objects below a prefix of the bucket of the tests."""
    return Bucket(f"s3://films/{name}", environment)
