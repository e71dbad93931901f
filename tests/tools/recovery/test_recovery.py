import asyncio
from pathlib import Path

import pytest

from deskhand.tools.recovery.states import OWNERLESS_SECONDS
from tests.tools.recovery.fakes import LIMIT, bench


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
