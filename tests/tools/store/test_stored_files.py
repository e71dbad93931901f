"""Files that another host uploads, while the depot or that host fails when the test says so."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import pytest
from sqlalchemy import Connection

from deskhand.tools.conversation.uploaded import FileUpload, UploadedFile
from deskhand.tools.conversation.views import FileView
from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import StoreError, StoreUnavailable
from deskhand.tools.store.file_store import FileStore
from deskhand.tools.store.files import FileFacts, kept
from deskhand.tools.store.maintenance import Rebuilt, StorageMaintenance
from deskhand.tools.store.stored_files import StoredFiles
from deskhand.tools.store.upload_queue import UploadQueue
from tests.tools.store.fakes import database
from tests.tools.store.test_upload_queue import FakeDepot

RECORDING = FileFacts(None, "recording", "film.mp4", "video/mp4")
FILM = b"moving"
LIMIT = 60.0
T = TypeVar("T")


class FailingStore(Store):
    """A database that refuses the rows of files when the test says so."""

    refuses = False

    async def write_short(self, work: Callable[[Connection], T]) -> T:
        if self.refuses:
            raise StoreUnavailable("db", "no route")
        return await super().write_short(work)


@dataclass
class Bench:
    """A host with a film, and a control plane with a bucket."""

    folder: Path
    store: FailingStore
    disk: FileStore
    depot: FakeDepot = field(default_factory=FakeDepot)
    downloads: int = 0
    urls: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.queue = UploadQueue(self.disk, self.depot, linger=0)
        self.files = StoredFiles(self.store, self.disk, lambda: 5.0, self.queue)

    async def upload(self, url: str) -> UploadedFile | None:
        self.urls.append(url)
        self.depot.held[url.removeprefix("http://depot/")] = FILM
        return UploadedFile(len(FILM), hashlib.sha256(FILM).hexdigest())

    async def download(self, to: Path) -> None:
        self.downloads += 1
        await asyncio.to_thread(to.write_bytes, FILM)

    async def receive(self, upload: FileUpload) -> FileView:
        return await self.files.receive(self.download, RECORDING, upload)

    async def only(self, stored: FileView) -> None:
        """Check that nothing but one file is stored, once the queue has done its work."""
        await self.queue.move()
        name = f"{stored.id[:2]}/{stored.id}"
        assert sorted(self.depot.held) == [name, f"{name}.json"]
        assert [one.id for one in await self.store.read(kept)] == [stored.id]
        assert await self.rebuilt() == Rebuilt(0, 0)
        assert await self.files.load(stored.id) == FILM

    async def rebuilt(self) -> Rebuilt:
        library = StorageMaintenance(
            self.store, self.disk.root, lambda: 5.0, upload_queue=self.queue
        )
        return await library.rebuild()


@asynccontextmanager
async def bench(folder: Path) -> AsyncIterator[Bench]:
    opening = await FailingStore.open(database(folder / "deskhand.db"))
    async with opening as store, asyncio.timeout(LIMIT):
        assert isinstance(store, FailingStore)
        yield Bench(folder, store, FileStore(folder / "files", moves=True))


def test_a_file_that_its_host_uploads_does_not_come_to_this_disk(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            stored = await b.receive(b.upload)
            assert (b.downloads, stored.waits, stored.size) == (0, False, len(FILM))
            assert stored.sha256 == hashlib.sha256(FILM).hexdigest()
            assert b.urls == [f"http://depot/{stored.id[:2]}/{stored.id}"]
            assert list(b.disk.stamps()) == []
            await b.only(stored)

    asyncio.run(scenario())


def test_a_file_that_its_host_cannot_upload_comes_through_here(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:

            async def fails(url: str) -> None:
                await b.upload(url)

            stored = await b.receive(fails)
            assert (b.downloads, stored.waits) == (1, True)
            assert not b.urls[0].endswith(stored.id)
            await b.only(stored)

    asyncio.run(scenario())


@pytest.mark.parametrize("size", [0, len(FILM) - 1, len(FILM) + 1])
def test_an_object_of_another_size_is_not_the_file(tmp_path: Path, size: int) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:

            async def lies(url: str) -> UploadedFile:
                await b.upload(url)
                return UploadedFile(size, "0" * 64)

            stored = await b.receive(lies)
            assert (b.downloads, stored.size) == (1, len(FILM))
            await b.only(stored)

    asyncio.run(scenario())


def test_an_object_that_is_not_there_is_not_the_file(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:

            async def lies(url: str) -> UploadedFile:
                return UploadedFile(len(FILM), "0" * 64)

            await b.only(await b.receive(lies))
            assert b.downloads == 1

    asyncio.run(scenario())


def test_a_file_comes_through_here_while_the_bucket_is_away_from_here(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:

            async def breaks(url: str) -> UploadedFile | None:
                b.depot.broken = True
                return await b.upload(url)

            stored = await b.receive(breaks)
            assert b.downloads == 1
            # A host is not asked while the queue finds the bucket away.
            running = asyncio.create_task(b.queue.run())
            b.depot.changed.clear()
            await b.depot.changed.wait()
            await asyncio.sleep(0)
            await b.files.delete((await b.receive(b.upload)).id)
            assert (b.downloads, len(b.urls)) == (2, 1)
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running
            b.depot.broken = False
            await b.only(stored)

    asyncio.run(scenario())


def test_an_upload_that_is_cancelled_leaves_no_row_and_no_description(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            begun = asyncio.Event()

            async def hangs(url: str) -> None:
                await b.upload(url)
                begun.set()
                await asyncio.Event().wait()

            receiving = asyncio.create_task(b.receive(hangs))
            await begun.wait()
            receiving.cancel()
            with pytest.raises(asyncio.CancelledError):
                await receiving
            assert (b.downloads, await b.store.read(kept)) == (0, [])
            await b.queue.move()
            assert b.depot.held == {}
            # What the host completes later becomes no file.
            await b.upload(b.urls[0])
            assert await b.queue.descriptions() == []
            assert await b.rebuilt() == Rebuilt(0, 0)
            assert await b.store.read(kept) == []

    asyncio.run(scenario())


def test_a_file_whose_row_is_refused_is_removed_from_the_bucket(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            b.store.refuses = True
            with pytest.raises(StoreError):
                await b.receive(b.upload)
            assert (b.downloads, len(b.depot.held)) == (0, 2)
            await b.queue.move()
            assert b.depot.held == {}
            b.store.refuses = False
            await b.only(await b.receive(b.upload))

    asyncio.run(scenario())
