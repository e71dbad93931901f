"""Pictures of steps on their way into a bucket of a real S3 service, as packs."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import update

from deskhand.tools.store import chats, files
from deskhand.tools.store.bucket import Bucket
from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import BucketUnavailable, BytesElsewhere, BytesMissing
from deskhand.tools.store.file_store import FileStore
from deskhand.tools.store.files import FileFacts
from deskhand.tools.store.maintenance import Rebuilt, StorageMaintenance
from deskhand.tools.store.packs.packer import UNKNOWN_SECONDS
from deskhand.tools.store.schema import FileRow
from deskhand.tools.store.stored_files import StoredFiles
from deskhand.tools.store.upload_queue import INTERVAL_SECONDS, UploadQueue
from tests.tools.store.fakes import database
from tests.tools.store.packs.places import Place, bucket, places
from tests.tools.store.s3 import S3Requests, make_bucket, s3_service
from tests.tools.store.test_upload_queue import FakeDepot

RECORDING = FileFacts("c1", "recording", "film.mp4", "video/mp4")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[dict[str, str], Path]]:
    log = tmp_path_factory.mktemp("s3") / "log"
    with s3_service(log) as environment:
        make_bucket(environment, "films")
        yield environment, log


def run(work: Coroutine[None, None, None]) -> None:
    asyncio.run(asyncio.wait_for(work, 60))


def puts(log: Path, prefix: str) -> int:
    """Return the number of PUT requests below a prefix: objects, and parts of objects."""
    return sum(target.startswith(f"/films/{prefix}/") for target in S3Requests(log).of("PUT"))


@pytest.mark.parametrize("count", [1, 10, 200])
def test_the_pictures_of_a_turn_are_one_put(
    service: tuple[dict[str, str], Path], tmp_path: Path, count: int
) -> None:
    environment, log = service
    prefix = f"turn-{count}"

    async def scenario() -> None:
        objects = bucket(environment, prefix)
        async with places(tmp_path, objects, objects) as (here, there):
            await here.turn("running")
            made = await here.pictures(count)
            await here.queue.move()
            assert puts(log, prefix) == 0
            assert await here.waiting(list(made)) == count
            with pytest.raises(BytesElsewhere):
                await there.read(next(iter(made)), 0, 1)
            await here.end_turns()
            await here.queue.move()
            assert puts(log, prefix) == 1
            assert await here.waiting(list(made)) == 0
            assert here.is_moved()
            # Another control plane reads them: ranges of the one object.
            for file_id, data in made.items():
                assert await there.files.load(file_id) == data
            some = len(data) // 2
            assert await there.read(file_id, 2, some) == data[2:some]
            assert [name[-5:] for name in await objects.names()] == [".pack"]

    run(scenario())


def test_a_turn_of_many_pictures_and_a_long_time_is_three_puts(
    service: tuple[dict[str, str], Path], tmp_path: Path
) -> None:
    environment, log = service

    async def scenario() -> None:
        async with places(tmp_path, bucket(environment, "long")) as (here,):
            await here.turn("running")
            made: dict[str, bytes] = {}
            for _ in range(40):
                made |= await here.pictures(5)
                await here.queue.move()
                here.clock.now += 61.0
            # The early ones can be read by others, and a lost disk does not take them.
            assert await here.waiting(list(made)) < 150
            await here.end_turns()
            await here.queue.move()
            assert await here.waiting(list(made)) == 0
            assert puts(log, "long") == 3
            assert [await here.files.load(one) for one in made] == list(made.values())

    run(scenario())


def test_a_large_pack_is_one_request(service: tuple[dict[str, str], Path], tmp_path: Path) -> None:
    environment, log = service

    async def scenario() -> None:
        async with places(tmp_path, bucket(environment, "large")) as (here,):
            large = [bytes([n]) * (4 << 20) for n in range(6)]
            made = {await here.picture(data): data for data in large}
            await here.queue.move()
            assert puts(log, "large") == 1
            for file_id, data in made.items():
                assert await here.files.load(file_id) == data

    run(scenario())


def test_the_pictures_of_chats_are_apart_and_other_files_stay_single(
    service: tuple[dict[str, str], Path], tmp_path: Path
) -> None:
    environment, log = service

    async def scenario() -> None:
        async with places(tmp_path, bucket(environment, "apart")) as (here,):
            await here.pictures(3, "c1")
            await here.pictures(3, "c2")
            await here.picture(b"", "c2")
            await here.files.save(b"moving", RECORDING)
            await here.queue.move()
            # Two packs; the recording is its bytes and its description.
            assert puts(log, "apart") == 2 + 2
            assert len(await here.queue.packs()) == 2

    run(scenario())


def test_a_picture_without_bytes_is_read(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with places(tmp_path, FakeDepot()) as (here,):
            empty = await here.picture(b"")
            await here.queue.move()
            assert not here.disk.path(empty).exists()
            assert await here.files.load(empty) == b""

    run(scenario())


class Cut(Exception):
    """The process was killed."""


class CutDepot(FakeDepot):
    """Ends the process after an upload."""

    cut = False

    async def put_whole(self, name: str, source: Path) -> None:
        await super().put_whole(name, source)
        if self.cut:
            raise Cut


def test_a_crash_after_an_upload_loses_nothing_and_stores_nothing_twice(tmp_path: Path) -> None:
    async def scenario() -> None:
        depot = CutDepot()
        async with places(tmp_path, depot, depot) as (here, there):
            made = await here.pictures(5)
            depot.cut = True
            with pytest.raises(Cut):
                await here.queue.move()
            assert len(depot.held) == 1
            assert await here.waiting(list(made)) == 5
            depot.cut = False
            # One more is stored before the next process begins.
            later = await here.picture(b"later")
            after = Place(here.store, here.disk.root, depot, here.clock)
            await after.queue.move()
            assert len(depot.held) == len(set(depot.puts)) == 2
            assert here.is_moved()
            assert [await there.files.load(one) for one in made] == list(made.values())
            assert await there.files.load(later) == b"later"

    run(scenario())


def test_a_crash_after_the_rows_were_written_is_harmless(tmp_path: Path) -> None:
    async def scenario() -> None:
        depot = FakeDepot()
        async with places(tmp_path, depot) as (here,):
            made = await here.pictures(5)
            # The pack and the pictures are on this disk as they were before the last move.
            depot.broken = True
            with pytest.raises(BucketUnavailable):
                await here.queue.move()
            (pack,) = here.disk.packs()
            kept = here.disk.pack_path(pack).read_bytes()
            singly = {one: here.disk.load(one) for one in made}
            depot.broken = False
            await here.queue.move()
            here.disk.pack_path(pack).write_bytes(kept)
            for file_id, data in singly.items():
                here.disk.path(file_id).write_bytes(data)
            await Place(here.store, here.disk.root, depot, here.clock).queue.move()
            assert here.is_moved()
            assert list(depot.held) == [f"{pack[:2]}/{pack}"]
            assert [await here.files.load(one) for one in made] == list(made.values())

    run(scenario())


def test_a_pack_that_was_cut_off_is_made_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        depot = FakeDepot()
        async with places(tmp_path, depot) as (here,):
            made = await here.pictures(2)
            here.disk.pack_path("x.pack").parent.mkdir()
            here.disk.pack_path("x.pack").write_bytes(b"DHPACK1\n\0\0")
            here.disk.pack_path(".y.pack.part").write_bytes(b"DHP")
            here.disk.sweep()
            await here.queue.move()
            assert not list(here.disk.root.glob("packs/*"))
            assert len(depot.held) == 1
            assert [await here.files.load(one) for one in made] == list(made.values())

    run(scenario())


def test_while_the_bucket_is_away_pictures_wait_and_one_pack_is_on_the_disk(tmp_path: Path) -> None:
    async def scenario() -> None:
        depot = FakeDepot()
        async with places(tmp_path, depot, depot) as (here, there):
            depot.broken = True
            made: dict[str, bytes] = {}
            for _ in range(10):
                made |= await here.pictures(3, "c1")
                made |= await here.pictures(3, "c2")
                with pytest.raises(BucketUnavailable):
                    await here.queue.move()
                here.clock.now += 30.0
            assert len(here.disk.packs()) == 1
            assert await here.waiting(list(made)) == 60
            assert [await here.files.load(one) for one in made] == list(made.values())
            depot.broken = False
            await here.queue.move()
            assert await here.waiting(list(made)) == 0
            assert here.is_moved()
            assert len(depot.held) == 3
            assert [await there.files.load(one) for one in made] == list(made.values())

    run(scenario())


def test_pictures_without_rows_are_held_and_moved_singly_at_last(tmp_path: Path) -> None:
    async def scenario() -> None:
        depot = FakeDepot()
        async with places(tmp_path, depot) as (here,):
            alone = here.disk.save(b"no step")
            await here.queue.move()
            assert depot.held == {}
            here.clock.now += UNKNOWN_SECONDS
            await here.queue.move()
            assert depot.held == {f"{alone.id[:2]}/{alone.id}": b"no step"}

    run(scenario())


def test_files_of_older_versions_without_descriptions_are_moved_singly(tmp_path: Path) -> None:
    async def scenario() -> None:
        depot = FakeDepot()
        async with places(tmp_path, depot) as (here,):
            made = await here.files.save(b"moving", RECORDING)
            here.disk.description_path(made.id).unlink()
            await here.queue.move()
            assert depot.held == {f"{made.id[:2]}/{made.id}": b"moving"}
            assert await here.files.load(made.id) == b"moving"

    run(scenario())


class PackingDepot(FakeDepot):
    """Another control plane packs, just as a single object is looked for."""

    packing: UploadQueue

    async def read(self, name: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        if not self.held:
            await self.packing.move()
        async for chunk in super().read(name, start, end):
            yield chunk


def test_a_picture_that_is_packed_while_it_is_looked_for_is_found(tmp_path: Path) -> None:
    async def scenario() -> None:
        depot = PackingDepot()
        async with places(tmp_path, depot, depot) as (here, there):
            depot.packing = here.queue
            made = await here.picture(b"new")
            assert await there.read(made, 1, 3) == b"ew"

    run(scenario())


def test_single_objects_of_pictures_stay_readable(tmp_path: Path) -> None:
    async def scenario() -> None:
        depot = FakeDepot()
        async with places(tmp_path, depot) as (here,):
            made = await here.picture(b"old")
            # As an earlier version moves it.
            await UploadQueue(here.disk, depot, linger=0).move()
            assert not here.disk.path(made).exists()
            assert await here.files.load(made) == b"old"
            assert await here.read(made, 1, 2) == b"l"

    run(scenario())


def test_a_pack_goes_with_the_last_of_its_pictures(tmp_path: Path) -> None:
    async def scenario() -> None:
        depot = FakeDepot()
        async with places(tmp_path, depot, depot) as (here, there):
            one, two, three = await here.pictures(3)
            await here.queue.move()
            await there.files.delete(one)
            await here.files.delete(two)
            for each in (here, there):
                await each.queue.move()
            assert len(depot.held) == 1
            with pytest.raises(BytesMissing):
                await here.read(one, 0, 1)
            await there.files.delete(three)
            await there.queue.move()
            assert depot.held == {}

    run(scenario())


def test_retention_and_the_deletion_of_chats_free_all_objects(
    service: tuple[dict[str, str], Path], tmp_path: Path
) -> None:
    environment, _ = service

    async def scenario() -> None:
        objects = bucket(environment, "freed")
        async with places(tmp_path, objects) as (here,):
            for turn in range(4):
                await here.pictures(8, "c1")
                await here.pictures(2, "c2")
                await here.queue.move()
                assert len(await objects.names()) == 2 * (turn + 1)
            gone = await here.maintenance(step_bytes=1).enforce_limits()
            # One picture of each chat stays, and the pack that has it.
            assert len(gone) == 4 * 10 - 2
            await here.queue.move()
            assert len(await objects.names()) == 2
            for chat in ("c1", "c2"):
                removed = await here.store.write(partial(chats.delete_tree, chat_id=chat))
                await here.files.discard(removed)
            await here.queue.move()
            assert await objects.names() == []

    run(scenario())


class DeletingDepot(FakeDepot):
    """Deletes pictures while a pack is uploaded."""

    files: StoredFiles
    deleted: Sequence[str] = ()

    async def put_whole(self, name: str, source: Path) -> None:
        await super().put_whole(name, source)
        for file_id in self.deleted:
            await self.files.delete(file_id)


def test_a_pack_whose_pictures_are_deleted_during_the_upload_is_removed(tmp_path: Path) -> None:
    async def scenario() -> None:
        depot = DeletingDepot()
        async with places(tmp_path, depot) as (here,):
            depot.files = here.files
            depot.deleted = list(await here.pictures(2))
            await here.queue.move()
            await here.queue.move()
            assert depot.held == {}
            assert here.is_moved()
            assert here.disk.queued_removals() == []

    run(scenario())


def test_a_picture_that_another_control_plane_deletes_is_not_packed(tmp_path: Path) -> None:
    async def scenario() -> None:
        depot = FakeDepot()
        async with places(tmp_path, depot, depot) as (here, there):
            await here.turn("running")
            one, two = await here.pictures(2)
            await here.queue.move()
            await there.files.delete(one)
            await here.end_turns()
            await here.queue.move()
            await here.queue.move()
            assert not here.disk.path(one).exists()
            (pack,) = await here.queue.packs()
            assert [each.id for each in await here.queue.packed_pictures(pack)] == [two]

    run(scenario())


def test_two_that_delete_the_rest_of_a_pack_at_once_remove_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        depot = FakeDepot()
        async with places(tmp_path, depot) as (here,):
            for _ in range(10):
                made = list(await here.pictures(6))
                await here.queue.move()

                async def delete(some: Sequence[str]) -> list[str]:
                    return await here.store.write(partial(files.delete_existing, file_ids=some))

                removed = await asyncio.gather(*(delete(made[n::3]) for n in range(3)))
                await here.files.discard([one for each in removed for one in each])
                await here.queue.move()
                assert depot.held == {}

    run(scenario())


def test_what_is_held_is_moved_as_the_program_ends(tmp_path: Path) -> None:
    async def scenario() -> None:
        depot = FakeDepot()
        async with places(tmp_path, depot) as (here,):
            await here.turn("running")
            made = await here.pictures(3)
            depot.broken = True
            await here.queue.finish()
            assert await here.waiting(list(made)) == 3
            depot.broken = False
            await here.queue.finish()
            assert await here.waiting(list(made)) == 0
        await UploadQueue(FileStore(tmp_path), depot).finish()

    run(scenario())


def test_a_lost_database_is_rebuilt_from_the_bucket_alone(
    service: tuple[dict[str, str], Path], tmp_path: Path
) -> None:
    environment, _ = service

    async def scenario() -> None:
        objects = bucket(environment, "lost")
        async with places(tmp_path, objects) as (here,):
            made = await here.pictures(4)
            await here.files.save(b"moving", RECORDING)
            await here.queue.move()
        folder = tmp_path / "other"
        queue = UploadQueue(FileStore(folder), objects)
        async with await Store.open(database(tmp_path / "other.db")) as store:
            library = StorageMaintenance(store, folder, lambda: 5.0, upload_queue=queue)
            assert await library.rebuild() == Rebuilt(restored=5, forgotten=0)
            assert await library.rebuild() == Rebuilt(restored=0, forgotten=0)
            other = Place(store, folder, objects, here.clock)
            for file_id, data in made.items():
                view = await other.files.get(file_id)
                assert (view.kind, view.size, view.waits) == ("step", len(data), False)
                assert view.metadata == {"width": 1}
                assert await other.files.load(file_id) == data

    run(scenario())


def test_an_older_database_finds_its_pictures_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        depot = FakeDepot()
        async with places(tmp_path, depot) as (here,):
            made = await here.pictures(4)
            await here.queue.move()
            gone = next(iter(made))
            await here.files.delete(gone)
            # Of a pack that rows name, a row that is missing was deleted.
            assert await here.maintenance().rebuild() == Rebuilt(restored=0, forgotten=0)
            before = {"pack": None, "pack_start": None, "waits": True}
            forgetting = update(FileRow).values(**before)
            await here.store.write(lambda session: session.execute(forgetting))
            with pytest.raises(BytesElsewhere):
                await here.read(list(made)[1], 0, 1)
            assert (await here.maintenance().rebuild()).forgotten == 0
            for file_id, data in list(made.items())[1:]:
                assert await here.files.load(file_id) == data

    run(scenario())


def test_a_rebuilding_keeps_one_of_two_packs_and_no_row_of_a_lost_one(tmp_path: Path) -> None:
    async def scenario() -> None:
        depot = FakeDepot()
        async with places(tmp_path, depot) as (here,):
            made = await here.pictures(4)
            await here.queue.move()
            (pack,) = depot.held.values()
            depot.held = {"0a/0a.pack": pack, "0b/0b.pack": pack, "no/no.pack": b"something else"}
            assert await here.maintenance().rebuild() == Rebuilt(restored=0, forgotten=0)
            await here.queue.move()
            assert sorted(depot.held) == ["0a/0a.pack", "no/no.pack"]
            assert [await here.files.load(one) for one in made] == list(made.values())
            del depot.held["0a/0a.pack"]
            assert await here.maintenance().rebuild() == Rebuilt(restored=0, forgotten=4)

    run(scenario())


def test_an_unreachable_bucket_is_reported_for_a_pack(
    service: tuple[dict[str, str], Path], tmp_path: Path
) -> None:
    environment, _ = service
    (tmp_path / "x").write_bytes(b"x")

    async def scenario() -> None:
        missing = Bucket("s3://nowhere", environment)
        with pytest.raises(BucketUnavailable, match="s3://nowhere cannot be used"):
            await missing.put_whole("x", tmp_path / "x")

    run(scenario())


def test_the_end_of_a_turn_is_followed_by_a_pack_at_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        depot = FakeDepot()
        async with places(tmp_path, depot) as (here,):
            await here.turn("running")
            made = await here.pictures(2)
            # The first scan packs those of a chat at rest; the next one is 30 s later by itself.
            await here.pictures(1, "c2")
            moving = asyncio.create_task(here.queue.run())
            await depot.changed.wait()
            depot.changed.clear()
            await here.end_turns()
            here.files.pack_soon()
            async with asyncio.timeout(INTERVAL_SECONDS / 2):
                await depot.changed.wait()
            moving.cancel()
            await asyncio.gather(moving, return_exceptions=True)
            assert [await here.files.load(one) for one in made] == list(made.values())

    run(scenario())
