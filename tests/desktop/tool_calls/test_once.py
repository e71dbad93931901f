import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from deskhand.desktop.errors import DisplayGone, QueueFull
from deskhand.desktop.tool_calls.action_journal import Answer, JournaledCall
from deskhand.desktop.tool_calls.errors import CallRefused
from deskhand.desktop.tool_calls.once import OncePerCall, Progress

CALL = JournaledCall(("chat", "call"), "digest")
OTHER = JournaledCall(("chat", "call"), "other")
ANSWER: Answer = (200, {"output": "done"})


class Work:
    """Something to do that waits to be let go."""

    def __init__(self) -> None:
        self.times = 0
        self.cancelled = 0
        self.begun = asyncio.Event()
        self.go = asyncio.Event()
        self.error: Exception | None = None

    async def __call__(self, progress: Progress) -> Answer:
        self.times += 1
        progress.began()
        self.begun.set()
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self.error is not None:
            raise self.error
        progress.ended(ANSWER)
        return ANSWER


def run(scenario: Coroutine[Any, Any, None]) -> None:
    async def limited() -> None:
        async with asyncio.timeout(20):
            await scenario

    asyncio.run(limited())


def test_a_finished_call_is_not_done_again() -> None:
    async def scenario() -> None:
        once, work = OncePerCall(), Work()
        work.go.set()
        assert await once.run(CALL, work) == (ANSWER, True)
        assert await once.run(CALL, work) == (ANSWER, False)
        assert work.times == 1
        assert once.knows(CALL)

    run(scenario())


def test_without_an_id_everything_is_done() -> None:
    async def scenario() -> None:
        once, work = OncePerCall(), Work()
        work.go.set()
        assert await once.run(None, work) == (ANSWER, True)
        assert await once.run(None, work) == (ANSWER, True)
        assert work.times == 2
        assert not once.knows(None)

    run(scenario())


def test_a_repetition_waits_for_the_call_that_runs() -> None:
    async def scenario() -> None:
        once, work = OncePerCall(), Work()
        first = asyncio.create_task(once.run(CALL, work))
        await work.begun.wait()
        second = asyncio.create_task(once.run(CALL, work))
        assert once.knows(CALL)
        with pytest.raises(CallRefused, match="different input"):
            await once.run(OTHER, work)
        work.go.set()
        assert await first == (ANSWER, True)
        assert await second == (ANSWER, False)
        assert work.times == 1

    run(scenario())


def test_a_call_is_cancelled_when_the_last_one_who_waits_has_gone() -> None:
    async def scenario() -> None:
        once, work = OncePerCall(), Work()
        waiting = [asyncio.create_task(once.run(CALL, work)) for _ in range(2)]
        await work.begun.wait()
        waiting[0].cancel()
        await asyncio.gather(waiting[0], return_exceptions=True)
        assert work.cancelled == 0
        waiting[1].cancel()
        await asyncio.gather(waiting[1], return_exceptions=True)
        assert work.cancelled == 1
        with pytest.raises(CallRefused) as caught:
            await once.run(CALL, work)
        assert caught.value.code == "outcome_unknown"
        assert not once.knows(CALL)

    run(scenario())


def test_what_was_refused_before_it_began_may_be_tried_again() -> None:
    async def full(_: Progress) -> Answer:
        raise QueueFull(32)

    async def scenario() -> None:
        once, work = OncePerCall(), Work()
        with pytest.raises(QueueFull):
            await once.run(CALL, full)
        work.go.set()
        assert await once.run(CALL, work) == (ANSWER, True)

    run(scenario())


def test_what_broke_off_is_not_tried_again() -> None:
    async def scenario() -> None:
        once, work = OncePerCall(), Work()
        work.error = DisplayGone(":7")
        work.go.set()
        with pytest.raises(DisplayGone):
            await once.run(CALL, work)
        with pytest.raises(CallRefused, match="Nobody knows"):
            await once.run(CALL, work)

    run(scenario())


def test_the_next_process_knows_what_the_last_one_did(tmp_path: Path) -> None:
    async def scenario() -> None:
        file = tmp_path / "calls.jsonl"
        once, work, hanging = OncePerCall(file), Work(), Work()
        work.go.set()
        await once.run(CALL, work)
        open_call = JournaledCall(("chat", "open"), "digest")
        task = asyncio.create_task(once.run(open_call, hanging))
        await hanging.begun.wait()
        successor = OncePerCall(file)
        assert await successor.run(CALL, work) == (ANSWER, False)
        with pytest.raises(CallRefused, match="Nobody knows"):
            await successor.run(open_call, work)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    run(scenario())


def test_the_file_does_not_grow_for_ever(tmp_path: Path) -> None:
    async def scenario() -> None:
        file = tmp_path / "calls.jsonl"
        once, work = OncePerCall(file), Work()
        work.go.set()
        for number in range(4200):
            await once.run(JournaledCall(("chat", str(number)), "digest"), work)
        assert len(file.read_text().splitlines()) < 8000
        last = JournaledCall(("chat", "4199"), "digest")
        assert await OncePerCall(file).run(last, work) == (ANSWER, False)

    run(scenario())


def test_a_disk_that_takes_nothing_keeps_nobody_from_acting(tmp_path: Path) -> None:
    async def scenario() -> None:
        once, work = OncePerCall(tmp_path / "missing" / "calls.jsonl"), Work()
        work.go.set()
        assert await once.run(CALL, work) == (ANSWER, True)
        assert await once.run(CALL, work) == (ANSWER, False)

    run(scenario())
