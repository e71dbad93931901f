import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from deskhand.desktop.processes.errors import StartFailed
from deskhand.desktop.tool_calls.errors import CallRefused, OutcomeUnknown
from deskhand.desktop.tool_calls.identity import Identity
from deskhand.desktop.tool_calls.once_detached import OncePerCallDetached
from tests.desktop.processes.service import LIMIT, FakeClock
from tests.given import CASES, NOT_YET, assert_contains

CALL = Identity("chat", "call")


def play(scenario: Callable[[OncePerCallDetached, FakeClock], Awaitable[None]]) -> None:
    clock = FakeClock()

    async def limited() -> None:
        async with asyncio.timeout(LIMIT):
            await scenario(OncePerCallDetached(clock), clock)

    asyncio.run(limited())


def test_many_requests_of_one_call_act_once() -> None:
    acts = []

    async def act() -> str:
        acts.append(1)
        await asyncio.sleep(0)
        return "done"

    async def scenario(once: OncePerCallDetached, _: FakeClock) -> None:
        results = await asyncio.gather(*(once.run(CALL, "d", act) for _ in range(8)))
        assert sorted(fresh for _, fresh in results) == [False] * 7 + [True]
        assert {result for result, _ in results} == {"done"}

    play(scenario)
    assert acts == [1]


def test_what_broke_off_has_an_unknown_outcome() -> None:
    name = "toolcall.table/panic_recorded_as_unknown"
    assert name not in NOT_YET
    expect = CASES[name]["expect"][1]
    acts = []

    async def act() -> str:
        acts.append(1)
        raise RuntimeError("panic")

    async def scenario(once: OncePerCallDetached, _: FakeClock) -> None:
        with pytest.raises(RuntimeError):
            await once.run(CALL, "d", act)
        with pytest.raises(OutcomeUnknown) as refused:
            await once.run(CALL, "d", act)
        assert_contains(str(refused.value), expect["message_contains"])
        task = once.cancel(CALL)
        assert isinstance(task, asyncio.Task)
        with pytest.raises(OutcomeUnknown):
            await once.outcome(task)

    play(scenario)
    assert len(acts) == expect["runs"]


def test_a_refusal_is_an_outcome_and_told_again() -> None:
    async def act() -> str:
        raise StartFailed("no shell")

    async def scenario(once: OncePerCallDetached, _: FakeClock) -> None:
        for _again in range(2):
            with pytest.raises(StartFailed):
                await once.run(CALL, "d", act)

    play(scenario)


def test_a_cancel_during_the_run_gets_its_answer() -> None:
    name = "toolcall.table/cancel_during_run_waits_and_returns_saved_response"
    assert CASES[name]["expect"]["cancel"]["received"]
    go = asyncio.Event()

    async def act() -> str:
        await go.wait()
        return "answer"

    async def scenario(once: OncePerCallDetached, _: FakeClock) -> None:
        running = asyncio.create_task(once.run(CALL, "d", act))
        await asyncio.sleep(0)
        task = once.cancel(CALL)
        assert isinstance(task, asyncio.Task)
        assert not task.done()
        go.set()
        assert await task == (await running)[0] == "answer"

    play(scenario)


def test_a_caller_that_is_cancelled_does_not_stop_the_act() -> None:
    done = asyncio.Event()

    async def act() -> None:
        await asyncio.sleep(0)
        done.set()

    async def scenario(once: OncePerCallDetached, _: FakeClock) -> None:
        caller = asyncio.create_task(once.run(CALL, "d", act))
        await asyncio.sleep(0)
        caller.cancel()
        await once.settle()
        assert done.is_set()

    play(scenario)


# "toolcall.table" is played in test_calls.py too: what refreshes the expiry needs no loop.
def test_a_call_older_than_this_table_is_refused() -> None:
    async def act() -> str:
        return "done"

    async def scenario(once: OncePerCallDetached, clock: FakeClock) -> None:
        with pytest.raises(CallRefused) as refused:
            await once.run(replace(CALL, age_ms=60_000), "d", act)
        assert refused.value.code == "agent_started_after_tool_call"
        clock.ahead = 70.0
        assert await once.run(replace(CALL, age_ms=60_000), "d", act) == ("done", True)
        assert await once.run(replace(CALL, age_ms=600_000), "d", act) == ("done", False)

    play(scenario)
