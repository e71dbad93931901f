"""Recordings that stayed on desktops that run: they are stored when the disk has room again."""

import asyncio
from pathlib import Path

import pytest

from deskhand.tools.conversation.run_recording import FetchedRecording
from deskhand.tools.recovery.late_storing import LATE_SECONDS
from deskhand.tools.store.errors import StoreUnavailable, UnknownRow
from tests.tools.recovery.fakes import Bench, bench, take


async def stored(b: Bench) -> list[str]:
    """Wait until a recording is stored; return the files of the turn."""
    await b.published.wait()
    b.published.clear()
    files: list[str] = (await b.recording())["file_ids"]
    return files


def test_a_recording_is_stored_when_an_attempt_succeeds(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            await b.end_turn()
            locked = StoreUnavailable(tmp_path, "database is locked", may_pass=True)
            b.running.results = [FetchedRecording(), locked, FetchedRecording()]
            await b.recovery.leave("child", "d", take(1))
            (file_id,) = await stored(b)
            # The files of the attempts that failed are gone, with their rows.
            assert await b.listed() == [file_id]
            assert len(b.running.strays) == 3
            assert [path.exists() for path in map(b.disk.path, b.running.strays)] == [False] * 3
            assert b.disk.path(file_id).exists()
            assert await b.states() == []

    asyncio.run(scenario())


def test_the_desktop_removes_a_take_that_was_copied_whole(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            await b.end_turn()
            await b.recovery.leave("child", "d", take(1))
            await b.recovery.leave("child", "d", take(2, 15.0))
            await stored(b)
            # The second take is fetched after the first was cleared.
            while len((await b.recording())["file_ids"]) < 2:
                await b.published.wait()
                b.published.clear()
            assert b.running.fetched == [1, 2]
            assert b.running.cleared[:1] == [1]
            assert await b.states() == []

    asyncio.run(scenario())


def test_a_turn_that_is_not_over_is_not_changed(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            await b.recovery.leave("child", "d", take(1))
            for _ in range(20):
                await b.store.read(lambda db: asyncio.sleep(0))
            assert b.running.fetched == []
            await b.end_turn()
            assert len(await stored(b)) == 1

    asyncio.run(scenario())


def test_the_next_program_goes_on(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            await b.recovery.leave("child", "d", take(1))
            await b.recovery.close()
            await b.end_turn()
            successor = b.successor()
            await successor.begin_all()
            assert len(await stored(b)) == 1
            await successor.close()

    asyncio.run(scenario())


def test_a_take_that_the_desktop_refuses_is_stored_at_its_end(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            await b.end_turn()
            b.running.results = [FetchedRecording(final=True)]
            await b.recovery.leave("child", "d", take(1))
            await b.running.failed.wait()
            b.remains.add("d", "child")
            b.dead.set()
            await stored(b)
            assert b.running.fetched == [1]
            assert await b.settle() == "stored"
            assert await b.states() == ["removed"]
            stays = b.running.strays[0]
            assert stays not in await b.listed()

    asyncio.run(scenario())


@pytest.mark.parametrize("staying", [True, False], ids=["too old", "not stopped"])
def test_a_take_without_attempts_waits_for_the_end_of_its_desktop(
    tmp_path: Path, staying: bool
) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            await b.recovery.leave("child", "d", take(1) if staying else None)
            # No attempt may be under way when the time passes.
            await b.recovery.close()
            b.time += LATE_SECONDS
            await b.end_turn()
            successor = b.successor()
            await successor.begin_all()
            b.remains.add("d", "child")
            b.dead.set()
            assert len(await stored(b)) == 1
            await successor.close()
            assert b.running.fetched == []

    asyncio.run(scenario())


def test_the_recording_of_a_deleted_chat_does_not_delay_others(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            await b.end_turn()
            b.running.results = [UnknownRow("chat", "child")]
            await b.recovery.leave("child", "d", take(1))
            await b.recovery.leave("child", "d", take(2, 15.0))
            await stored(b)
            assert b.running.fetched[:2] == [1, 2]
            assert b.running.fetched.count(1) == 1
            assert await b.states() == ["left"]

    asyncio.run(scenario())


def test_a_copy_that_was_cut_short_leaves_the_take_on_its_desktop(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            await b.end_turn()
            b.running.whole = False
            await b.recovery.leave("child", "d", take(1))
            assert len(await stored(b)) == 1
            # The next take is fetched after the first is done with.
            await b.recovery.leave("child", "d", take(2, 15.0))
            await stored(b)
            assert b.running.cleared == []

    asyncio.run(scenario())
