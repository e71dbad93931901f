"""A bucket of a real S3 service, and stored files that move into it."""

import asyncio
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from deskhand.tools.store.bucket import PIECE, Bucket
from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import BucketUnavailable, BytesMissing
from deskhand.tools.store.file_store import FileStore
from deskhand.tools.store.files import FileFacts
from deskhand.tools.store.maintenance import Rebuilt, StorageMaintenance
from deskhand.tools.store.stored_files import StoredFiles
from deskhand.tools.store.upload_queue import UploadQueue
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

    asyncio.run(asyncio.wait_for(scenario(), 20))


def test_files_live_in_the_bucket_and_outlive_this_machine(
    environment: dict[str, str], tmp_path: Path
) -> None:
    async def scenario() -> None:
        bucket = Bucket("s3://films/library", environment)
        disk = FileStore(tmp_path / "files")
        upload_queue = UploadQueue(disk, bucket, linger=0)
        async with await Store.open(tmp_path / "deskhand.db") as store:
            files = StoredFiles(store, disk, lambda: 5.0, upload_queue)
            recording = await files.save(b"moving", RECORDING)
            await upload_queue.move()
            assert not disk.path(recording.id).exists()
            assert await files.load(recording.id) == b"moving"
            await files.pin(recording.id, True)
            await upload_queue.move()
        other = FileStore(tmp_path / "other")
        upload_queue = UploadQueue(other, bucket, linger=0)
        async with await Store.open(tmp_path / "other.db") as store:
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
