"""Pictures whose bytes are rows, until the bucket that several control planes share has them."""

from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import update

from deskhand.tools.store import chats
from deskhand.tools.store.errors import BucketUnavailable
from deskhand.tools.store.maintenance import Rebuilt
from deskhand.tools.store.packs.holding import EARLY
from deskhand.tools.store.rows import planes
from deskhand.tools.store.schema import FileRow
from tests.tools.store.packs.places import Place, places
from tests.tools.store.packs.test_packer import Cut, CutDepot, run
from tests.tools.store.test_upload_queue import FakeDepot


def test_each_reads_the_pictures_that_another_one_holds(tmp_path: Path) -> None:
    async def scenario() -> None:
        depot = FakeDepot()
        async with places(tmp_path, depot, depot, shared=True) as (here, there):
            await here.turn("running")
            made = await here.pictures(3)
            await here.queue.move()
            assert await there.held() == dict.fromkeys(made, "p0")
            assert [await there.files.load(one) for one in made] == list(made.values())
            assert await there.read(next(iter(made)), 1, 4) == b"ict"
            await there.queue.move()
            await here.end_turns()
            await there.queue.move()
            # The one that has them on its disk packs them.
            assert depot.held == {}
            await here.queue.move()
            assert len(depot.held) == 1
            assert await there.held() == {}
            assert [await there.files.load(one) for one in made] == list(made.values())

    run(scenario())


def test_alone_no_bytes_are_rows(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with places(tmp_path, FakeDepot()) as (here,):
            await here.pictures(3)
            assert await here.held() == {}

    run(scenario())


def test_files_other_than_pictures_of_steps_are_no_rows(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with places(tmp_path, FakeDepot(), shared=True) as (here,):
            await here.files.keep_picture("c1", b"sheet", "sheet.png", "image/png", "tag")
            assert await here.held() == {}

    run(scenario())


def test_what_a_lost_one_has_left_is_packed_from_the_rows(tmp_path: Path) -> None:
    async def scenario() -> None:
        depot = FakeDepot()
        async with places(tmp_path, depot, depot, shared=True) as (here, there):
            made = await here.pictures(3) | {await here.picture(b""): b""}
            await there.queue.move()
            assert depot.held == {}
            await here.end()
            await there.queue.move()
            assert len(depot.held) == 1
            assert await there.held() == {}
            assert there.is_moved()
            assert [await there.files.load(one) for one in made] == list(made.values())

    run(scenario())


def test_the_driver_of_a_chat_packs_what_its_former_driver_has_left(tmp_path: Path) -> None:
    async def scenario() -> None:
        depot = FakeDepot()
        async with places(tmp_path, depot, depot, depot, shared=True) as (here, there, third):
            await here.drive()
            await here.turn("running")
            first = await here.pictures(2)
            await here.end()
            # The chat has a driver, if a dead one, until another one claims it.
            await third.queue.move()
            await there.drive()
            await third.queue.move()
            assert set((await there.held()).values()) == {"p0"}
            await there.queue.move()
            assert set((await there.held()).values()) == {"p1"}
            second = await there.pictures(2)
            await there.end_turns()
            await there.queue.move()
            (pack,) = await there.queue.packs()
            packed = {each.id for each in await there.queue.packed_pictures(pack)}
            assert packed == {*first, *second}

    run(scenario())


def test_one_that_was_stopped_packs_nothing_that_another_one_has_adopted(tmp_path: Path) -> None:
    async def scenario() -> None:
        mine, theirs = FakeDepot(), FakeDepot()
        async with places(tmp_path, mine, theirs, shared=True) as (here, there):
            await here.drive()
            await here.turn("running")
            made = await here.pictures(2)
            await here.queue.move()
            await there.drive()
            await there.queue.move()
            await here.end_turns()
            await here.queue.move()
            assert mine.held == {}
            assert here.is_moved()
            await there.queue.move()
            assert len(theirs.held) == 1
            assert [await there.files.load(one) for one in made] == list(made.values())

    run(scenario())


class AdoptingDepot(FakeDepot):
    """Another control plane adopts and packs the pictures, while a pack of them is uploaded."""

    other: Place | None = None

    async def put_whole(self, name: str, source: Path) -> None:
        await super().put_whole(name, source)
        if self.other is not None:
            other, self.other = self.other, None
            await other.drive()
            await other.queue.move()


def test_of_two_packs_of_the_same_pictures_the_second_one_is_removed(tmp_path: Path) -> None:
    async def scenario() -> None:
        depot = AdoptingDepot()
        async with places(tmp_path, depot, depot, shared=True) as (here, there):
            await here.drive()
            made = await here.pictures(2)
            depot.other = there
            await here.queue.move()
            assert len(depot.held) == 2
            await here.queue.move()
            assert len(depot.held) == 1
            assert await here.held() == {}
            assert [await there.files.load(one) for one in made] == list(made.values())

    run(scenario())


def test_one_that_was_killed_after_an_upload_and_starts_again_stores_nothing_twice(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        depot = CutDepot()
        async with places(tmp_path, depot, depot, shared=True) as (here, there):
            made = await here.pictures(3)
            depot.cut = True
            with pytest.raises(Cut):
                await here.queue.move()
            depot.cut = False
            after = Place(here.store, here.disk.root, depot, here.clock, "p3")
            await after.beat()
            # The former one lives, as far as is known: its pictures are not touched.
            await after.queue.move()
            assert set((await here.held()).values()) == {"p0"}
            assert sorted(dict(after.disk.stamps())) == sorted(made)
            await here.store.write(partial(planes.leave, plane="p0"))
            await after.queue.move()
            await after.queue.move()
            assert len(depot.held) == 1
            assert await here.held() == {}
            assert after.is_moved()
            assert [await there.files.load(one) for one in made] == list(made.values())

    run(scenario())


def test_a_pack_that_another_one_has_made_meanwhile_is_not_uploaded(tmp_path: Path) -> None:
    async def scenario() -> None:
        mine, theirs = FakeDepot(), FakeDepot()
        async with places(tmp_path, mine, theirs, shared=True) as (here, there):
            await here.drive()
            made = await here.pictures(3)
            mine.broken = True
            with pytest.raises(BucketUnavailable):
                await here.queue.move()
            assert len(here.disk.packs()) == 1
            await there.drive()
            await there.queue.move()
            mine.broken = False
            await here.queue.move()
            assert mine.puts == []
            assert here.is_moved()
            assert [await there.files.load(one) for one in made] == list(made.values())

    run(scenario())


def test_bytes_go_with_their_picture_and_their_chat(tmp_path: Path) -> None:
    async def scenario() -> None:
        depot = FakeDepot()
        async with places(tmp_path, depot, depot, shared=True) as (here, there):
            await here.turn("running")
            one, two, three = await here.pictures(3)
            await there.files.delete(one)
            assert (await here.held()).keys() == {two, three}
            await here.store.write(partial(chats.delete_tree, chat_id="c1"))
            assert await here.held() == {}

    run(scenario())


def test_packs_of_a_turn_are_counted_over_a_take_over(tmp_path: Path) -> None:
    async def scenario() -> None:
        depot = FakeDepot()
        async with places(tmp_path, depot, depot, shared=True) as (here, there):
            await here.drive()
            await here.turn("running")
            for limits in EARLY:
                await here.pictures(2)
                here.clock.now += limits.seconds
                await here.queue.move()
            assert len(depot.held) == len(EARLY)
            made = await here.pictures(2)
            await here.end()
            await there.drive()
            here.clock.now += EARLY[-1].seconds
            await there.queue.move()
            assert len(depot.held) == len(EARLY)
            await there.end_turns()
            await there.queue.move()
            assert len(depot.held) == 3
            assert [await there.files.load(one) for one in made] == list(made.values())

    run(scenario())


def test_as_one_ends_its_pictures_are_left_to_the_others(tmp_path: Path) -> None:
    async def scenario() -> None:
        depot = FakeDepot()
        async with places(tmp_path, depot, depot, shared=True) as (here, there):
            made = await here.pictures(2)
            await here.queue.finish()
            assert depot.held == {}
            await here.end()
            await there.queue.move()
            assert [await there.files.load(one) for one in made] == list(made.values())

    run(scenario())


def test_a_rebuilding_forgets_no_picture_that_is_held(tmp_path: Path) -> None:
    async def scenario() -> None:
        depot = FakeDepot()
        async with places(tmp_path, depot, depot, shared=True) as (here, there):
            await here.turn("running")
            await here.pictures(2)
            assert await there.maintenance().rebuild() == Rebuilt(restored=0, forgotten=0)

    run(scenario())


def test_pictures_of_an_earlier_version_are_packed_by_the_one_that_has_them(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        depot = FakeDepot()
        async with places(tmp_path, depot, shared=True) as (here,):
            earlier = Place(here.store, here.disk.root, depot, here.clock)
            made = await earlier.picture(b"old")
            await here.store.write(lambda s: s.execute(update(FileRow).values(waits=True)))
            await here.queue.move()
            assert len(depot.held) == 1
            assert await here.files.load(made) == b"old"

    run(scenario())
