import asyncio
from collections.abc import Awaitable, Callable

import pytest

from deskhand.tools.agents.loop.interruption import CallInterrupted, CallSuspended
from deskhand.tools.agents.loop.reply_calls import AFTER_FAILURE, AFTER_REPORT, ReplyCalls
from deskhand.tools.agents.loop.stuck_detector import StuckDetector
from deskhand.tools.conversation.conversation import Text, ToolCall, ToolResult

from .fakes import ToolboxOf

Answer = Callable[[ToolCall], Awaitable[ToolResult]]


def plain(call_id: str) -> ToolCall:
    return ToolCall(call_id, "execute", {"command": call_id})


def click(call_id: str) -> ToolCall:
    return ToolCall(call_id, "left_click", {"coordinate": [1, 2]}, "computer")


REPORT = ToolCall("r", "report", {"summary": "Done.", "outcome": "done"})


def running(answer: Answer, *calls: ToolCall, report: bool = True) -> ReplyCalls:
    return ReplyCalls(calls, ToolboxOf(answer), StuckDetector(), offers_report=report)


def ok(call: ToolCall, text: str = "ok") -> ToolResult:
    return ToolResult(call.id, (Text(text),), toolset=call.toolset)


def words(calls: ReplyCalls) -> list[str]:
    return [b.text for result in calls.results for b in result.content if isinstance(b, Text)]


def test_plain_calls_overlap_and_their_results_have_the_order_of_the_calls() -> None:
    ended: list[str] = []

    async def scenario() -> None:
        all_begun = asyncio.Barrier(4)
        turn = asyncio.Condition()

        async def answer(call: ToolCall) -> ToolResult:
            # Nobody passes before all four have begun, and they end in the reverse order.
            async with asyncio.timeout(20):
                await all_begun.wait()
                async with turn:
                    await turn.wait_for(lambda: len(ended) == 3 - int(call.id))
                    ended.append(call.id)
                    turn.notify_all()
            return ok(call, call.id)

        calls = running(answer, *(plain(str(index)) for index in range(4)))
        await calls.run()
        assert words(calls) == ["0", "1", "2", "3"]
        assert ended == ["3", "2", "1", "0"]
        assert calls.steps == 4

    asyncio.run(scenario())


def test_computer_calls_run_in_order_and_between_the_plain_ones_around_them() -> None:
    events: list[str] = []

    async def answer(call: ToolCall) -> ToolResult:
        events.append(f"+{call.id}")
        await asyncio.sleep(0)
        events.append(f"-{call.id}")
        return ok(call)

    calls = running(answer, plain("a"), click("b"), click("c"), plain("d"), plain("e"))
    asyncio.run(calls.run())
    assert events == ["+a", "-a", "+b", "-b", "+c", "-c", "+d", "+e", "-d", "-e"]


def test_a_failed_computer_call_stops_the_others_but_no_plain_call() -> None:
    async def answer(call: ToolCall) -> ToolResult:
        return ToolResult(call.id, (Text(call.id),), is_error=call.id in "ab")

    calls = running(answer, plain("a"), click("b"), click("c"), plain("d"))
    asyncio.run(calls.run())
    assert words(calls) == ["a", "b", AFTER_FAILURE, "d"]
    assert calls.steps == 3


def test_nothing_runs_after_a_report() -> None:
    async def answer(call: ToolCall) -> ToolResult:
        return ok(call)

    calls = running(answer, plain("a"), REPORT, plain("b"), click("c"))
    asyncio.run(calls.run())
    assert calls.report is not None
    assert words(calls) == ["ok", "Report received.", AFTER_REPORT, AFTER_REPORT]
    assert calls.steps == 1


def test_a_defect_in_one_tool_is_its_result() -> None:
    async def answer(call: ToolCall) -> ToolResult:
        if call.id == "a":
            raise ValueError("broken")
        return ok(call)

    calls = running(answer, plain("a"), plain("b"))
    asyncio.run(calls.run())
    assert words(calls) == ["The tool failed unexpectedly: ValueError: broken", "ok"]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_cancelling_keeps_what_is_known_and_answers_the_rest(count: int) -> None:
    async def scenario() -> None:
        begun = asyncio.Barrier(count + 1)

        async def answer(call: ToolCall) -> ToolResult:
            try:
                async with asyncio.timeout(20):
                    await begun.wait()
                    await asyncio.Event().wait()
            except asyncio.CancelledError:
                if call.id == "0":
                    raise CallInterrupted(ok(call, "known")) from None
                raise
            raise AssertionError

        calls = running(answer, *(plain(str(index)) for index in range(count)))
        task = asyncio.create_task(calls.run())
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert words(calls)[0] == "known"
        assert len(calls.results) == count
        assert all("interrupted" in text.lower() for text in words(calls)[1:])

    asyncio.run(scenario())


def test_a_suspended_call_is_reported_before_other_ends() -> None:
    async def scenario() -> None:
        begun = asyncio.Barrier(3)

        async def answer(call: ToolCall) -> ToolResult:
            try:
                async with asyncio.timeout(20):
                    await begun.wait()
                    await asyncio.Event().wait()
            except asyncio.CancelledError:
                if call.id == "b":
                    raise CallSuspended from None
                raise CallInterrupted(ok(call)) from None
            raise AssertionError

        task = asyncio.create_task(running(answer, plain("a"), plain("b")).run())
        await begun.wait()
        task.cancel()
        with pytest.raises(CallSuspended):
            await task

    asyncio.run(scenario())


def test_a_call_that_is_cancelled_alone_ends_the_reply() -> None:
    async def answer(call: ToolCall) -> ToolResult:
        if call.id == "a":
            raise CallInterrupted(ok(call, "known"))
        return ok(call)

    calls = running(answer, plain("a"), plain("b"))
    with pytest.raises(CallInterrupted):
        asyncio.run(calls.run())
    assert words(calls) == ["known", "ok"]


def test_equal_calls_with_equal_results_are_noticed_over_replies() -> None:
    async def answer(call: ToolCall) -> ToolResult:
        return ok(call)

    detector = StuckDetector()
    equal = ToolCall("x", "execute", {})
    stuck = []
    for _ in range(30):
        calls = ReplyCalls([equal], ToolboxOf(answer), detector, offers_report=True)
        asyncio.run(calls.run())
        stuck.append(calls.stuck)
    assert not stuck[0]
    assert stuck[-1]


def test_without_the_report_tool_a_call_of_this_name_is_a_plain_one() -> None:
    async def answer(call: ToolCall) -> ToolResult:
        return ok(call)

    calls = running(answer, REPORT, plain("a"), report=False)
    asyncio.run(calls.run())
    assert calls.report is None
    assert words(calls) == ["ok", "ok"]
