"""Files on their way into a depot that fails when the test says so."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from deskhand.tools.store.errors import BucketUnavailable, BytesMissing
from deskhand.tools.store.file_store import FileStore
from deskhand.tools.store.upload_queue import UploadQueue


class FakeDepot:
    """Bytes by name."""

    def __init__(self) -> None:
        self.held: dict[str, bytes] = {}
        self.puts: list[str] = []
        self.broken = False
        self.refused = ""
        """Name of an object that is not accepted."""
        self.changed = asyncio.Event()

    async def put(self, name: str, source: Path) -> None:
        self._check(name)
        self.held[name] = await asyncio.to_thread(source.read_bytes)
        self.puts.append(name)
        self.changed.set()

    async def put_whole(self, name: str, source: Path) -> None:
        await self.put(name, source)

    async def put_bytes(self, name: str, data: bytes) -> None:
        self._check(name)
        self.held[name] = data
        self.puts.append(name)
        self.changed.set()

    async def put_url(self, name: str) -> str:
        return f"http://depot/{name}"

    async def size(self, name: str) -> int | None:
        self._check(name)
        return len(self.held[name]) if name in self.held else None

    async def read(self, name: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        self._check()
        if name not in self.held:
            raise BytesMissing(name)
        yield self.held[name][start:end]

    async def delete(self, names: Sequence[str]) -> None:
        self._check()
        for name in names:
            self.held.pop(name, None)

    async def names(self) -> list[str]:
        self._check()
        return sorted(self.held)

    def _check(self, name: str = "-") -> None:
        if self.broken or name == self.refused:
            self.changed.set()
            raise BucketUnavailable("s3://b", "no route")


def test_a_file_and_its_description_are_moved_off_this_disk(tmp_path: Path) -> None:
    async def scenario() -> None:
        disk, object_store = FileStore(tmp_path), FakeDepot()
        upload_queue = UploadQueue(disk, object_store, linger=0)
        made = disk.save(b"film")
        disk.describe(made.id, "words")
        await upload_queue.move()
        name = f"{made.id[:2]}/{made.id}"
        assert object_store.held == {name: b"film", f"{name}.json": b"words"}
        assert object_store.puts == [name, f"{name}.json"]
        assert list(disk.stamps()) == []
        assert [chunk async for chunk in upload_queue.read(made.id)] == [b"film"]
        assert await upload_queue.descriptions() == [(made.id, "words")]

    asyncio.run(scenario())


def test_a_new_description_is_uploaded_without_the_bytes(tmp_path: Path) -> None:
    async def scenario() -> None:
        disk, object_store = FileStore(tmp_path), FakeDepot()
        upload_queue = UploadQueue(disk, object_store, linger=1000)
        made = disk.save(b"film")
        await upload_queue.move()
        assert disk.path(made.id).exists()
        disk.describe(made.id, "words")
        await upload_queue.move()
        await upload_queue.move()
        name = f"{made.id[:2]}/{made.id}"
        assert object_store.puts == [name, f"{name}.json"]

    asyncio.run(scenario())


def test_an_upload_that_fails_loses_nothing_and_is_retried(tmp_path: Path) -> None:
    async def scenario() -> None:
        disk, object_store = FileStore(tmp_path), FakeDepot()
        upload_queue = UploadQueue(disk, object_store, linger=0, interval=1000)
        object_store.broken = True
        made = disk.save(b"film")
        running = asyncio.create_task(upload_queue.run())
        async with asyncio.timeout(20):
            await object_store.changed.wait()
            assert disk.load(made.id) == b"film"
            object_store.broken = False
            object_store.changed.clear()
            upload_queue.wake()
            await object_store.changed.wait()
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        assert list(object_store.held.values()) == [b"film"]

    asyncio.run(scenario())


def test_the_disk_is_scanned_again_after_the_interval(tmp_path: Path) -> None:
    async def scenario() -> None:
        disk, object_store = FileStore(tmp_path), FakeDepot()
        running = asyncio.create_task(UploadQueue(disk, object_store, interval=0.01).run())
        disk.save(b"film")
        async with asyncio.timeout(20):
            await object_store.changed.wait()
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running

    asyncio.run(scenario())


def test_a_removal_while_the_object_store_is_away_is_done_later(tmp_path: Path) -> None:
    async def scenario() -> None:
        disk, object_store = FileStore(tmp_path), FakeDepot()
        upload_queue = UploadQueue(disk, object_store, linger=0)
        made = disk.save(b"film")
        await upload_queue.move()
        object_store.broken = True
        await upload_queue.forget([made.id])
        with pytest.raises(BucketUnavailable):
            await upload_queue.move()
        object_store.broken = False
        assert await upload_queue.ids() == set()
        # Another process, the next day.
        await UploadQueue(disk, object_store).move()
        assert object_store.held == {}
        assert disk.queued_removals() == []

    asyncio.run(scenario())


def test_a_file_that_changed_since_it_was_sent_stays(tmp_path: Path) -> None:
    disk = FileStore(tmp_path)
    made = disk.save(b"film")
    ((name, stamps),) = disk.stamps()
    disk.describe(made.id, "news")
    assert not disk.drop(name, stamps)
    assert disk.load(made.id) == b"film"


class Rows:
    """Which files have a row, and what was written to it."""

    def __init__(self, *known: str) -> None:
        self.known = set(known)
        self.written: list[list[str]] = []

    async def uploaded(self, ids: Sequence[str]) -> frozenset[str]:
        self.written.append(list(ids))
        return frozenset(self.known.intersection(ids))


def test_rows_are_written_after_the_uploads_together(tmp_path: Path) -> None:
    async def scenario() -> None:
        disk, object_store = FileStore(tmp_path), FakeDepot()
        one, two = sorted(disk.save(data).id for data in (b"1", b"2"))
        rows = Rows(one, two)
        moves = UploadQueue(disk, object_store, uploaded=rows.uploaded, record_seconds=0)
        object_store.broken = True
        with pytest.raises(BucketUnavailable):
            await moves.move()
        assert rows.written == []
        object_store.broken = False
        await moves.move()
        await moves.move()
        assert rows.written == [[one, two]]

    asyncio.run(scenario())


def test_rows_are_written_for_what_was_uploaded_before_a_failure(tmp_path: Path) -> None:
    async def scenario() -> None:
        disk, object_store = FileStore(tmp_path), FakeDepot()
        one, two = sorted(disk.save(data).id for data in (b"1", b"2"))
        rows = Rows(one, two)
        moves = UploadQueue(disk, object_store, linger=0, uploaded=rows.uploaded)
        object_store.refused = f"{two[:2]}/{two}"
        with pytest.raises(BucketUnavailable):
            await moves.move()
        assert rows.written == [[one]]
        assert (disk.path(one).exists(), disk.path(two).exists()) == (False, True)

    asyncio.run(scenario())


def test_a_file_stays_on_this_disk_until_it_has_a_row(tmp_path: Path) -> None:
    async def scenario() -> None:
        disk, object_store = FileStore(tmp_path), FakeDepot()
        rows = Rows()
        moves = UploadQueue(disk, object_store, linger=0, uploaded=rows.uploaded, record_seconds=0)
        made = disk.save(b"picture")
        await moves.move()
        assert disk.path(made.id).exists()
        rows.known.add(made.id)
        await moves.move()
        assert not disk.path(made.id).exists()
        assert object_store.puts == [f"{made.id[:2]}/{made.id}"]

    asyncio.run(scenario())


def test_rows_are_written_once_in_an_interval(tmp_path: Path) -> None:
    async def scenario() -> None:
        disk, rows = FileStore(tmp_path), Rows()
        moves = UploadQueue(disk, FakeDepot(), uploaded=rows.uploaded, record_seconds=1000)
        first = disk.save(b"1")
        await moves.move()
        disk.save(b"2")
        await moves.move()
        assert rows.written == [[first.id]]

    asyncio.run(scenario())
