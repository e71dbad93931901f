import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deskhand.desktop.errors import DisplayGone, QueueFull
from deskhand.desktop.processes.errors import StartFailed
from deskhand.desktop.tool_calls.errors import CallRefused, OutcomeUnknown
from deskhand.desktop.tool_calls.identity import Identity
from deskhand.desktop.tool_calls.journal import Answer
from deskhand.desktop.tool_calls.once import OncePerCall, Progress
from deskhand.desktop.tool_calls.table import KEPT_SECONDS
from tests.desktop.processes.service import LIMIT, FakeClock
from tests.given import CASES, NOT_YET, assert_contains

CALL = Identity("chat", "call")
ANSWER: Answer = (200, {"output": "done"})


class Work:
    """An execution that waits for ``go``, then answers or fails."""

    def __init__(self, error: Exception | None = None, *, go: bool = True) -> None:
        self.times = 0
        self.cancelled = 0
        self.begun = asyncio.Event()
        self.go = asyncio.Event()
        self.error = error
        if go:
            self.go.set()

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


async def started(progress: Progress) -> str:
    """Start a process: its id is no answer that a journal could keep."""
    progress.began()
    return "process-id"


def run(scenario: Coroutine[Any, Any, None]) -> None:
    async def limited() -> None:
        async with asyncio.timeout(LIMIT):
            await scenario

    asyncio.run(limited())


@pytest.mark.parametrize("detached", [False, True])
def test_a_finished_call_is_not_executed_again(detached: bool) -> None:
    async def scenario() -> None:
        once, work = OncePerCall(detached=detached), Work()
        assert await once.run(CALL, "d", work) == (ANSWER, True)
        assert await once.run(CALL, "d", work) == (ANSWER, False)
        assert work.times == 1
        assert once.knows(CALL)

    run(scenario())


@pytest.mark.parametrize("detached", [False, True])
def test_without_an_id_everything_is_executed(detached: bool) -> None:
    async def scenario() -> None:
        once, work = OncePerCall(detached=detached), Work()
        assert await once.run(None, "d", work) == (ANSWER, True)
        assert await once.run(None, "d", work) == (ANSWER, True)
        assert work.times == 2
        assert not once.knows(None)

    run(scenario())


@pytest.mark.parametrize("detached", [False, True])
def test_repetitions_wait_for_the_call_that_runs(detached: bool) -> None:
    async def scenario() -> None:
        once, work = OncePerCall(detached=detached), Work(go=False)
        first = asyncio.create_task(once.run(CALL, "d", work))
        await work.begun.wait()
        others = [asyncio.create_task(once.run(CALL, "d", work)) for _ in range(7)]
        await asyncio.sleep(0)
        assert once.knows(CALL)
        with pytest.raises(CallRefused, match="different input"):
            await once.run(CALL, "other", work)
        work.go.set()
        assert await first == (ANSWER, True)
        assert await asyncio.gather(*others) == [(ANSWER, False)] * 7
        assert work.times == 1

    run(scenario())


def test_an_action_is_cancelled_when_the_last_request_that_waits_is_gone() -> None:
    async def scenario() -> None:
        once, work = OncePerCall(), Work(go=False)
        waiting = [asyncio.create_task(once.run(CALL, "d", work)) for _ in range(2)]
        await work.begun.wait()
        waiting[0].cancel()
        await asyncio.gather(waiting[0], return_exceptions=True)
        assert work.cancelled == 0
        waiting[1].cancel()
        await asyncio.gather(waiting[1], return_exceptions=True)
        assert work.cancelled == 1
        with pytest.raises(CallRefused) as caught:
            await once.run(CALL, "d", work)
        assert caught.value.code == "outcome_unknown"
        assert not once.knows(CALL)

    run(scenario())


@pytest.mark.parametrize("detached", [False, True])
def test_the_policy_holds_for_requests_without_a_call_too(detached: bool) -> None:
    async def scenario() -> None:
        once, work = OncePerCall(detached=detached), Work(go=False)
        waiting = asyncio.create_task(once.run(None, "", work))
        await work.begun.wait()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        assert work.cancelled == (0 if detached else 1)
        work.go.set()
        await once.settle()

    run(scenario())


def test_a_detached_call_runs_to_its_end_when_its_client_is_gone() -> None:
    async def scenario() -> None:
        once, work = OncePerCall(detached=True), Work(go=False)
        waiting = asyncio.create_task(once.run(CALL, "d", work))
        await work.begun.wait()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        work.go.set()
        await once.settle()
        assert await once.run(CALL, "d", work) == (ANSWER, False)
        assert (work.times, work.cancelled) == (1, 0)

    run(scenario())


def test_an_action_that_was_refused_before_it_began_may_be_tried_again() -> None:
    async def full(_: Progress) -> Answer:
        raise QueueFull(32)

    async def scenario() -> None:
        once = OncePerCall()
        with pytest.raises(QueueFull):
            await once.run(CALL, "d", full)
        assert await once.run(CALL, "d", Work()) == (ANSWER, True)

    run(scenario())


def test_an_action_that_broke_off_is_not_tried_again() -> None:
    async def scenario() -> None:
        once, work = OncePerCall(), Work(DisplayGone(":7"))
        with pytest.raises(DisplayGone):
            await once.run(CALL, "d", work)
        with pytest.raises(CallRefused, match="Nobody knows"):
            await once.run(CALL, "d", work)

    run(scenario())


def test_all_requests_of_a_failing_action_get_its_error() -> None:
    async def scenario() -> None:
        once, work = OncePerCall(), Work(DisplayGone(":7"), go=False)
        waiting = [asyncio.create_task(once.run(CALL, "d", work)) for _ in range(2)]
        await work.begun.wait()
        work.go.set()
        failed = await asyncio.gather(*waiting, return_exceptions=True)
        assert [type(error) for error in failed] == [DisplayGone, DisplayGone]

    run(scenario())


def test_a_detached_call_that_broke_off_has_an_unknown_outcome() -> None:
    name = "toolcall.table/panic_recorded_as_unknown"
    assert name not in NOT_YET
    expect = CASES[name]["expect"][1]

    async def scenario() -> None:
        once, work = OncePerCall(detached=True), Work(RuntimeError("panic"))
        with pytest.raises(RuntimeError):
            await once.run(CALL, "d", work)
        with pytest.raises(OutcomeUnknown) as refused:
            await once.run(CALL, "d", work)
        assert_contains(str(refused.value), expect["message_contains"])
        task = once.cancel(CALL)
        assert isinstance(task, asyncio.Task)
        with pytest.raises(OutcomeUnknown):
            await once.outcome(task)
        assert work.times == expect["runs"]

    run(scenario())


def test_a_refusal_is_an_outcome_of_a_detached_call() -> None:
    async def scenario() -> None:
        once, work = OncePerCall(detached=True), Work(StartFailed("no shell"))
        for _again in range(2):
            with pytest.raises(StartFailed):
                await once.run(CALL, "d", work)
        assert work.times == 1

    run(scenario())


def test_a_cancel_during_the_run_gets_its_answer() -> None:
    name = "toolcall.table/cancel_during_run_waits_and_returns_saved_response"
    assert CASES[name]["expect"]["cancel"]["received"]

    async def scenario() -> None:
        once, work = OncePerCall(detached=True), Work(go=False)
        running = asyncio.create_task(once.run(CALL, "d", work))
        await work.begun.wait()
        task = once.cancel(CALL)
        assert isinstance(task, asyncio.Task)
        assert not task.done()
        work.go.set()
        assert await task == (await running)[0] == ANSWER

    run(scenario())


def test_a_canceled_call_never_begins() -> None:
    async def scenario() -> None:
        once, work = OncePerCall(detached=True), Work()
        assert once.cancel(CALL) is None
        with pytest.raises(CallRefused) as refused:
            await once.run(CALL, "d", work)
        assert refused.value.code == "tool_call_canceled"
        assert work.times == 0

    run(scenario())


# "toolcall.table" is played in test_table.py too: what refreshes the expiry needs no loop.
def test_a_call_older_than_the_service_is_refused() -> None:
    async def scenario() -> None:
        clock = FakeClock()
        once, work = OncePerCall(None, clock, detached=True), Work()
        with pytest.raises(CallRefused) as refused:
            await once.run(replace(CALL, age_ms=60_000), "d", work)
        assert refused.value.code == "agent_started_after_tool_call"
        clock.ahead = 70.0
        assert await once.run(replace(CALL, age_ms=60_000), "d", work) == (ANSWER, True)
        assert await once.run(replace(CALL, age_ms=600_000), "d", work) == (ANSWER, False)

    run(scenario())


def test_a_running_action_is_joined_however_long_it_runs() -> None:
    async def scenario() -> None:
        clock = FakeClock()
        once, work = OncePerCall(None, clock), Work(go=False)
        first = asyncio.create_task(once.run(CALL, "d", work))
        await work.begun.wait()
        clock.ahead = 2 * KEPT_SECONDS
        second = asyncio.create_task(once.run(CALL, "d", work))
        await asyncio.sleep(0)
        work.go.set()
        assert await first == (ANSWER, True)
        assert await second == (ANSWER, False)
        assert work.times == 1

    run(scenario())


@pytest.mark.parametrize("detached", [False, True])
def test_the_next_service_knows_what_the_last_one_executed(tmp_path: Path, detached: bool) -> None:
    async def scenario() -> None:
        file = tmp_path / "calls" / "calls.jsonl"
        once, work, hanging = OncePerCall(file, detached=detached), Work(), Work(go=False)
        assert await once.run(CALL, "d", work) == (ANSWER, True)
        open_call = Identity("chat", "open")
        task = asyncio.create_task(once.run(open_call, "d", hanging))
        await hanging.begun.wait()
        for _ in range(2):
            successor = OncePerCall(file, detached=detached)
            assert successor.knows(CALL)
            assert await successor.run(CALL, "d", work) == (ANSWER, False)
            with pytest.raises(CallRefused) as unknown:
                await successor.run(open_call, "d", work)
            assert unknown.value.code == "outcome_unknown"
            with pytest.raises(CallRefused) as other:
                await successor.run(open_call, "other input", work)
            assert other.value.code == "input_mismatch"
        assert await successor.run(Identity("chat", "new"), "d", work) == (ANSWER, True)
        assert work.times == 2
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        hanging.go.set()
        await once.settle()

    run(scenario())


def test_the_outcome_of_a_start_is_not_known_to_the_next_service(tmp_path: Path) -> None:
    async def scenario() -> None:
        file = tmp_path / "calls.jsonl"
        await OncePerCall(file, detached=True).run(CALL, "d", started)
        with pytest.raises(CallRefused, match="not known"):
            await OncePerCall(file, detached=True).run(CALL, "d", started)
        later = OncePerCall(file, detached=True, wall=lambda: 1e12)
        assert await later.run(CALL, "d", started) == ("process-id", True)

    run(scenario())


def test_a_cancel_gets_what_an_earlier_service_answered_or_that_it_may_have_begun(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        file, start = tmp_path / "calls.jsonl", Identity("chat", "start")
        once = OncePerCall(file, detached=True)
        await once.run(CALL, "d", Work())
        await once.run(start, "d", started)
        successor = OncePerCall(file, detached=True)
        assert successor.cancel(CALL) == ANSWER
        with pytest.raises(CallRefused, match="not known"):
            successor.cancel(start)
        assert successor.cancel(Identity("chat", "new")) is None

    run(scenario())


@pytest.mark.parametrize("detached", [False, True])
def test_a_disk_that_cannot_be_written_prevents_no_call(tmp_path: Path, detached: bool) -> None:
    async def scenario() -> None:
        (tmp_path / "calls").touch()
        once, work = OncePerCall(tmp_path / "calls" / "calls.jsonl", detached=detached), Work()
        assert await once.run(CALL, "d", work) == (ANSWER, True)
        assert await once.run(CALL, "d", work) == (ANSWER, False)

    run(scenario())
