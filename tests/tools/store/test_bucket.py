"""A bucket of a real S3 service, and stored files that move into it."""

import asyncio
import hashlib
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from deskhand.tools.conversation.uploaded import UploadedFile
from deskhand.tools.store.bucket import PIECE, Bucket
from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import BucketUnavailable, BytesElsewhere, BytesMissing
from deskhand.tools.store.file_store import FileStore
from deskhand.tools.store.files import FileFacts, finish_waiting
from deskhand.tools.store.files import kept as kept_files
from deskhand.tools.store.maintenance import Rebuilt, StorageMaintenance
from deskhand.tools.store.stored_files import StoredFiles
from deskhand.tools.store.upload_queue import UploadQueue
from tests.tools.store.fakes import database
from tests.tools.store.s3 import s3_service

RECORDING = FileFacts(None, "recording", "film.mp4", "video/mp4")


@pytest.fixture(scope="module")
def environment() -> Iterator[dict[str, str]]:
    with s3_service() as found:
        # An empty PUT makes a bucket; the service takes it from anybody.
        made = urllib.request.Request(f"{found['AWS_ENDPOINT_URL']}/films", method="PUT")
        urllib.request.urlopen(made, timeout=20).close()
        yield found


async def read(bucket: Bucket, name: str, start: int = 0, end: int | None = None) -> bytes:
    return b"".join([chunk async for chunk in bucket.read(name, start, end)])


def test_bytes_are_put_in_pieces_and_read_in_ranges(
    environment: dict[str, str], tmp_path: Path
) -> None:
    async def scenario() -> None:
        bucket = Bucket("s3://films/some/place", environment)
        long = tmp_path / "long"
        long.write_bytes(bytes(range(256)) * (PIECE // 256 + 1000))
        await bucket.put("ab/abc", long)
        assert await bucket.names() == ["ab/abc"]
        assert await read(bucket, "ab/abc") == long.read_bytes()
        assert await read(bucket, "ab/abc", 3, 6) == b"\x03\x04\x05"
        assert await read(bucket, "ab/abc", PIECE + 255_999) == b"\xff"
        await bucket.delete(["ab/abc", "never there"])
        assert await bucket.names() == []
        with pytest.raises(BytesMissing):
            await read(bucket, "ab/abc")

    asyncio.run(asyncio.wait_for(scenario(), 20))


def put_to(url: str, data: bytes) -> None:
    # Without a type the client would send one of forms, which the service would read as a form.
    typed = {"Content-Type": "video/mp4"}
    urllib.request.urlopen(urllib.request.Request(url, data, typed, method="PUT")).close()


def test_one_object_is_put_to_a_signed_address_without_keys(
    environment: dict[str, str], tmp_path: Path
) -> None:
    async def scenario() -> None:
        bucket = Bucket("s3://films/signed", environment)
        url = await bucket.put_url("ab/abc")
        assert "/films/signed/ab/abc?" in url
        assert "X-Amz-Expires=300" in url
        assert environment["AWS_SECRET_ACCESS_KEY"] not in url
        assert await bucket.size("ab/abc") is None
        await asyncio.to_thread(put_to, url, b"moving")
        assert await bucket.size("ab/abc") == 6
        await bucket.put_bytes("ab/abc", b"moved")
        assert await read(bucket, "ab/abc") == b"moved"

    asyncio.run(asyncio.wait_for(scenario(), 20))


def test_a_recording_that_its_host_uploads_is_listed_and_restored_as_any_other(
    environment: dict[str, str], tmp_path: Path
) -> None:
    async def scenario() -> None:
        bucket = Bucket("s3://films/direct", environment)
        disk = FileStore(tmp_path / "files", moves=True)

        async def upload(url: str) -> UploadedFile:
            await asyncio.to_thread(put_to, url, b"moving")
            return UploadedFile(6, hashlib.sha256(b"moving").hexdigest())

        async def download(to: Path) -> None:
            raise AssertionError(to)

        async with await Store.open(database(tmp_path / "deskhand.db")) as store:
            files = StoredFiles(store, disk, lambda: 5.0, UploadQueue(disk, bucket))
            made = await files.receive(download, RECORDING, upload)
            assert (made.size, made.waits) == (6, False)
            assert list(disk.stamps()) == []
            assert await files.load(made.id) == b"moving"
        other = tmp_path / "other"
        queue = UploadQueue(FileStore(other), bucket)
        async with await Store.open(database(tmp_path / "other.db")) as store:
            library = StorageMaintenance(store, other, lambda: 5.0, upload_queue=queue)
            assert await library.rebuild() == Rebuilt(restored=1, forgotten=0)
            assert await StoredFiles(store, disk, lambda: 5.0).get(made.id) == made

    asyncio.run(asyncio.wait_for(scenario(), 20))


def test_a_missing_bucket_is_reported(environment: dict[str, str], tmp_path: Path) -> None:
    async def scenario() -> None:
        bucket = Bucket("s3://nowhere", environment)
        (tmp_path / "x").write_bytes(b"x")
        with pytest.raises(BucketUnavailable, match="s3://nowhere cannot be used"):
            await bucket.put("x", tmp_path / "x")
        with pytest.raises(BucketUnavailable):
            await bucket.names()
        with pytest.raises(BucketUnavailable):
            await bucket.delete(["x"])
        with pytest.raises(BucketUnavailable):
            await read(bucket, "x")
        with pytest.raises(BucketUnavailable):
            await bucket.put_bytes("x", b"x")

    asyncio.run(asyncio.wait_for(scenario(), 20))


def test_a_file_waits_until_the_bucket_has_it_for_another_control_plane(
    environment: dict[str, str], tmp_path: Path
) -> None:
    async def scenario() -> None:
        bucket = Bucket("s3://films/library", environment)
        async with await Store.open(database(tmp_path / "deskhand.db")) as store:

            async def uploaded(ids: Sequence[str]) -> frozenset[str]:
                return await store.write(lambda session: finish_waiting(session, ids))

            disks = [FileStore(tmp_path / name, moves=True) for name in ("here", "there")]
            here, there = [UploadQueue(disk, bucket, uploaded=uploaded) for disk in disks]
            mine = StoredFiles(store, disks[0], lambda: 5.0, here)
            theirs = StoredFiles(store, disks[1], lambda: 5.0, there)
            recording = await mine.save(b"moving", RECORDING)
            assert recording.waits
            assert [kept.waits for kept in await store.read(kept_files)] == [True]
            with pytest.raises(BytesElsewhere, match="wait to be moved to the bucket"):
                await anext(theirs.stream(recording.id, 0, 6))
            await here.move()
            assert not (await theirs.get(recording.id)).waits
            assert [chunk async for chunk in theirs.stream(recording.id, 0, 6)] == [b"moving"]
            await mine.delete(recording.id)
            await here.move()
            with pytest.raises(BytesMissing):
                await anext(theirs.stream(recording.id, 0, 6))

    asyncio.run(asyncio.wait_for(scenario(), 20))


def test_files_live_in_the_bucket_and_outlive_this_machine(
    environment: dict[str, str], tmp_path: Path
) -> None:
    async def scenario() -> None:
        bucket = Bucket("s3://films/library", environment)
        disk = FileStore(tmp_path / "files")
        upload_queue = UploadQueue(disk, bucket, linger=0)
        async with await Store.open(database(tmp_path / "deskhand.db")) as store:
            files = StoredFiles(store, disk, lambda: 5.0, upload_queue)
            recording = await files.save(b"moving", RECORDING)
            await upload_queue.move()
            assert not disk.path(recording.id).exists()
            assert await files.load(recording.id) == b"moving"
            await files.pin(recording.id, True)
            await upload_queue.move()
        other = FileStore(tmp_path / "other")
        upload_queue = UploadQueue(other, bucket, linger=0)
        async with await Store.open(database(tmp_path / "other.db")) as store:
            library = StorageMaintenance(
                store, tmp_path / "other", lambda: 5.0, upload_queue=upload_queue
            )
            assert await library.rebuild() == Rebuilt(restored=1, forgotten=0)
            assert await library.rebuild() == Rebuilt(restored=0, forgotten=0)
            files = StoredFiles(store, other, lambda: 5.0, upload_queue)
            assert (await files.get(recording.id)).pinned
            assert [c async for c in files.stream(recording.id, 2, 4)] == [b"vi"]
            await files.delete(recording.id)
            assert await upload_queue.ids() == set()
            await upload_queue.move()
        assert await bucket.names() == []

    asyncio.run(asyncio.wait_for(scenario(), 20))
