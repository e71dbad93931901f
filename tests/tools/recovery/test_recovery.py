import asyncio
from pathlib import Path

import pytest

from deskhand.tools.recovery import rows
from deskhand.tools.recovery.ports import LeftRecording, Remains
from deskhand.tools.recovery.states import OWNERLESS_SECONDS
from tests.tools.recovery.fakes import LIMIT, bench

NOTHING = Remains(())


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
            assert b.remains.list() == NOTHING

    asyncio.run(scenario())


def test_a_recording_that_stayed_on_its_desktop_is_stored_when_that_has_ended(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            await b.recovery.leave("child", "d", None)
            await b.recovery.leave("child", "d", None)
            assert await b.states() == ["left"]
            b.remains.add("d", "child")
            b.dead.set()
            await b.published.wait()
            assert (await b.recording())["status"] == "stored"
            assert await b.settle() == "stored"
            assert await b.states() == ["removed"]

    asyncio.run(scenario())


def test_a_recording_whose_desktop_is_locked_for_a_moment_is_stored(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            await b.recovery.leave("child", "d", None)
            b.remains.add("d", "child")
            b.remains.lists_locked = b.remains.removals_locked = 1
            b.dead.set()
            await b.published.wait()
            assert await b.settle() == "stored"
            assert await b.states() == ["removed"]

    asyncio.run(scenario())


def test_what_a_desktop_left_is_found_although_it_is_locked_at_first(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            b.remains.add("d", "child")
            # No row names the desktop, and nothing asks for its recording.
            b.remains.lists_locked = 2
            b.dead.set()
            await b.recovery.begin_all()
            await b.published.wait()
            assert await b.settle() == "stored"
            assert await b.states() == ["removed"]

    asyncio.run(asyncio.wait_for(scenario(), LIMIT))


def test_what_cannot_be_removed_now_is_removed_later(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            b.remains.add("d", "child")
            b.remains.removals_locked = 3
            b.dead.set()
            assert await b.settle() == "stored"
            assert (await b.states(), b.remains.list()) == (["removed"], NOTHING)

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
            assert b.remains.list() == NOTHING

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
            assert bool(b.remains.list().recordings) is not bool(age)

    asyncio.run(scenario())


def test_a_control_plane_that_does_not_lead_waits_for_the_one_that_does(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            b.remains.add("d", "child")
            b.dead.set()
            b.recovery.leads = lambda: False
            await b.recovery.begin_all()
            waiting = asyncio.create_task(b.settle())
            # Another one finds the recording, and this one waits until it is stored.
            await b.store.write(lambda db: rows.known(db, LeftRecording("d", "child", ()), 1.0))
            await asyncio.sleep(0)
            assert not waiting.done()
            assert await b.states() == ["left"]
            other = b.successor()
            other.begin("d")
            assert await waiting == "stored"
            await other.close()
            assert b.remains.list() == NOTHING

    asyncio.run(scenario())
