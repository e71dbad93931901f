import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from deskhand.tools.agents.loop.budget import TurnBudget
from deskhand.tools.agents.loop.turn import CUT_SHORT, LoopSettings, TurnEnd, run_turn
from deskhand.tools.agents.loop.turn_prompts import HARD_ATTEMPTS
from deskhand.tools.agents.providers.errors import LimitReached, ModelUnavailable
from deskhand.tools.agents.providers.port import Usage
from deskhand.tools.conversation.conversation import (
    Message,
    SafetyCheck,
    Text,
    ToolCall,
    ToolResult,
)
from tests.tools.agents.loop.fakes import (
    MemoryTranscript,
    ModelOf,
    ToolboxOf,
    reply,
    succeeded,
    user,
)

CLICK = ToolCall("c1", "left_click", {"coordinate": [1, 2]}, "computer")
TYPE = ToolCall("c2", "type", {"text": "x"}, "computer")
RUN = ToolCall("c3", "execute", {"command": "true"})
REPORT = ToolCall("c9", "report", {"summary": "All good.", "outcome": "done", "evidence": [1]})
SETTINGS = LoopSettings("a-model", "Be useful.")


def turn(
    model: ModelOf,
    transcript: MemoryTranscript | None = None,
    toolbox: ToolboxOf | None = None,
    settings: LoopSettings = SETTINGS,
    clock: Callable[[], float] = lambda: 0.0,
) -> TurnEnd:
    kept = transcript or MemoryTranscript(user("Do it."))
    return asyncio.run(run_turn(kept, model, toolbox or ToolboxOf(), settings, clock))


def results(message: Message) -> list[ToolResult]:
    return [b for b in message.content if isinstance(b, ToolResult)]


def test_plain_text_ends_the_turn_as_an_assumed_success() -> None:
    end = turn(ModelOf(reply(Text("It is done."))))
    assert (end.outcome, end.report, end.outcome_source) == ("done", "It is done.", "assumed")
    assert (end.error, end.error_kind, end.steps) == (None, None, 0)


def test_calls_are_run_in_order_and_their_results_go_into_one_message() -> None:
    transcript = MemoryTranscript(user("Do it."))
    toolbox = ToolboxOf()
    end = turn(ModelOf(reply(CLICK, TYPE, RUN), reply(Text("Done."))), transcript, toolbox)
    assert toolbox.called == [CLICK, TYPE, RUN]
    assert [r.call_id for r in results(transcript.kept[2])] == ["c1", "c2", "c3"]
    assert [r.toolset for r in results(transcript.kept[2])] == ["computer", "computer", None]
    assert end.steps == 3


def test_a_report_ends_the_turn_with_its_outcome() -> None:
    given = ToolCall("c9", "report", {"summary": " Half. ", "outcome": "partly", "evidence": [2]})
    transcript = MemoryTranscript(user("Do it."))
    end = turn(ModelOf(reply(CLICK, given)), transcript)
    assert (end.outcome, end.report, end.outcome_source) == ("partly", "Half.", "report")
    assert (end.evidence, end.steps) == ((2,), 1)
    assert not any(r.is_error for r in results(transcript.kept[-1]))


def test_what_comes_after_the_report_is_not_run() -> None:
    transcript = MemoryTranscript(user("Do it."))
    toolbox = ToolboxOf()
    turn(ModelOf(reply(REPORT, CLICK)), transcript, toolbox)
    assert toolbox.called == []
    assert [r.is_error for r in results(transcript.kept[-1])] == [False, True]


def test_a_bad_report_is_sent_back_to_the_model() -> None:
    transcript = MemoryTranscript(user("Do it."))
    bad = ToolCall("c8", "report", {"outcome": "done"})
    end = turn(ModelOf(reply(bad), reply(REPORT)), transcript)
    assert end.report == "All good."
    assert results(transcript.kept[2])[0].is_error


def test_without_the_setting_report_is_a_tool_like_others() -> None:
    model = ModelOf(reply(REPORT), reply(Text("Bye.")))
    toolbox = ToolboxOf()
    end = turn(model, toolbox=toolbox, settings=LoopSettings("m", "s", report=False))
    assert toolbox.called == [REPORT]
    assert [spec.name for spec in model.prompts[0].tools] == ["execute"]
    assert end.outcome_source == "assumed"


def test_the_report_tool_is_offered_once_although_the_toolbox_has_one() -> None:
    model = ModelOf(reply(Text("Bye.")))
    turn(model, toolbox=ToolboxOf(specs=("execute", "report")))
    assert [spec.name for spec in model.prompts[0].tools] == ["execute", "report"]


def test_the_prompt_carries_the_settings() -> None:
    model = ModelOf(reply(Text("Bye.")))
    turn(model, toolbox=ToolboxOf(computer=False))
    prompt = model.prompts[0]
    assert (prompt.model, prompt.system, prompt.computer) == ("a-model", "Be useful.", False)
    assert prompt.messages == (user("Do it."),)


def test_a_tool_that_raises_gives_an_error_result_and_the_turn_goes_on() -> None:
    async def broken(call: ToolCall) -> ToolResult:
        raise KeyError("handle")

    transcript = MemoryTranscript(user("Do it."))
    end = turn(ModelOf(reply(RUN), reply(Text("Sorry."))), transcript, ToolboxOf(broken))
    (result,) = results(transcript.kept[2])
    assert result.is_error
    assert end.outcome == "done"


def test_after_a_failed_computer_action_the_later_ones_of_the_reply_are_not_run() -> None:
    async def failing(call: ToolCall) -> ToolResult:
        if call == CLICK:
            return ToolResult(call.id, (Text("no"),), is_error=True, toolset=call.toolset)
        return await succeeded(call)

    transcript = MemoryTranscript(user("Do it."))
    toolbox = ToolboxOf(failing)
    turn(ModelOf(reply(CLICK, TYPE, RUN), reply(Text("Oh."))), transcript, toolbox)
    assert toolbox.called == [CLICK, RUN]
    assert [r.is_error for r in results(transcript.kept[2])] == [True, True, False]


def test_a_result_always_bears_the_id_and_toolset_of_its_call() -> None:
    async def careless(call: ToolCall) -> ToolResult:
        return ToolResult("", (Text("ok"),))

    transcript = MemoryTranscript(user("Do it."))
    turn(ModelOf(reply(CLICK), reply(Text("Done."))), transcript, ToolboxOf(careless))
    assert results(transcript.kept[2]) == [ToolResult("c1", (Text("ok"),), toolset="computer")]


def test_calls_left_open_by_an_earlier_process_are_answered_first() -> None:
    transcript = MemoryTranscript(user("Do it."), Message("assistant", (CLICK, RUN)))
    model = ModelOf(reply(Text("I see.")))
    turn(model, transcript)
    assert [r.call_id for r in results(transcript.kept[2])] == ["c1", "c3"]
    assert all(r.is_error for r in results(transcript.kept[2]))
    assert model.prompts[0].messages[-1] == transcript.kept[2]


def test_tokens_are_added_up_and_kept_with_their_message() -> None:
    transcript = MemoryTranscript(user("Do it."))
    one, two = Usage(100, 10, 5, 1), Usage(200, 20)
    end = turn(ModelOf(reply(RUN, usage=one), reply(Text("."), usage=two)), transcript)
    # The prices of this model are not known.
    assert transcript.usages == [replace(one, cost_usd=None), replace(two, cost_usd=None)]
    assert end.usage == Usage(300, 30, 5, 1, cost_usd=None)


def test_the_cost_is_recorded_with_the_first_call_of_a_reply_and_ends_the_turn() -> None:
    toolbox = ToolboxOf()
    # 250,000 tokens of input at 4 USD for a million.
    replies = (reply(CLICK, TYPE, usage=Usage(250_000)), reply(RUN, usage=Usage(250_000)))
    settings = LoopSettings("claude-opus-5-5", "s", TurnBudget(usd=1.5))
    end = turn(ModelOf(*replies), None, toolbox, settings=settings)
    recorded = [one and one.usage.cost_usd for one in toolbox.requests]
    assert recorded == [1.0, None, 1.0]
    assert (end.error_kind, end.usage.cost_usd) == ("budget", 2.0)
    assert end.error == "Ended because the budget of 1.5 USD is used up."


@pytest.mark.parametrize(
    ("budget", "word"),
    [
        (TurnBudget(steps=1), "1 steps"),
        (TurnBudget(minutes=2), "2 minutes"),
        (TurnBudget(tokens=15), "15 tokens"),
    ],
)
def test_a_spent_budget_ends_the_turn_and_is_named_in_the_error(
    budget: TurnBudget, word: str
) -> None:
    seconds = iter((0.0, 0.0, 120.0))
    settings = LoopSettings("m", "s", budget)
    replies = (reply(Text("Working."), RUN), reply(RUN))
    end = turn(ModelOf(*replies), settings=settings, clock=lambda: next(seconds))
    assert (end.outcome, end.error_kind, end.report) == ("partly", "budget", "Working.")
    assert word in (end.error or "")


@pytest.mark.parametrize(
    ("people_seconds", "ended"), [(0.0, "budget"), (70.0, None), (9999.0, None)]
)
def test_the_time_of_people_is_not_charged(people_seconds: float, ended: str | None) -> None:
    seconds = iter((0.0, 0.0, 130.0, 190.0))
    toolbox = ToolboxOf()

    async def taken_over(call: ToolCall) -> ToolResult:
        toolbox.people_seconds = people_seconds
        return await succeeded(call)

    toolbox.answer = taken_over
    replies = (reply(RUN), reply(RUN), reply(Text("Done.")))
    settings = LoopSettings("m", "s", TurnBudget(minutes=2.1))
    end = turn(ModelOf(*replies), toolbox=toolbox, settings=settings, clock=lambda: next(seconds))
    assert end.error_kind == ended


def test_the_time_of_people_before_the_turn_is_no_gift() -> None:
    seconds = iter((0.0, 0.0, 10.0, 140.0))
    toolbox = ToolboxOf()

    async def with_people(call: ToolCall) -> ToolResult:
        toolbox.people_seconds = 3600.0
        return await succeeded(call)

    toolbox.answer = with_people
    settings = LoopSettings("m", "s", TurnBudget(minutes=2))
    end = turn(
        ModelOf(reply(RUN), reply(RUN), reply(RUN)),
        toolbox=toolbox,
        settings=settings,
        clock=lambda: next(seconds),
    )
    assert end.error_kind == "budget"


def test_a_model_that_cannot_be_reached_fails_the_turn() -> None:
    end = turn(ModelOf(reply(Text("Off I go."), RUN), ModelUnavailable("no route", 25)))
    assert (end.outcome, end.error_kind) == ("failed", "model_unavailable")
    assert (end.report, end.error) == (
        "Off I go.",
        "no reply from the model after 25 attempts: no route",
    )


@pytest.mark.parametrize(
    ("limit", "value", "named"),
    [
        ("pictures per request", 600, "600 pictures per request"),
        ("MB per request", 32, "32 MB per request"),
        ("tokens in its context window", 200_000, "200,000 tokens in its context window"),
    ],
)
def test_a_turn_that_reaches_a_limit_of_the_model_names_it(
    limit: str, value: int, named: str
) -> None:
    limits = [LimitReached(limit, value)] * (HARD_ATTEMPTS + 1)
    transcript = MemoryTranscript(user("Do it."))
    end = turn(ModelOf(reply(Text("Off I go."), RUN), *limits), transcript)
    assert (end.outcome, end.error_kind, end.report) == ("failed", "context_full", "Off I go.")
    assert named in str(end.error)
    assert transcript.begun == [f"the limit of {named}"] * HARD_ATTEMPTS


def test_a_turn_goes_on_after_a_limit_with_a_shorter_history() -> None:
    transcript = MemoryTranscript(user("Do it."))
    limit = LimitReached("pictures per request", 100)
    model = ModelOf(reply(CLICK), reply(RUN), limit, reply(Text("Done.")))
    end = turn(model, transcript)
    assert (end.error, end.report) == (None, "Done.")
    assert len(transcript.kept) == 6, "nothing is removed from what is stored"
    (summary,) = model.prompts[-1].messages
    assert "Do it." in str(summary)
    assert "Called execute" in str(summary)


def test_a_refusal_fails_the_turn() -> None:
    end = turn(ModelOf(reply(Text("No."), stop_reason="refusal")))
    assert (end.outcome, end.error_kind, end.report) == ("failed", "refusal", "No.")


@pytest.mark.parametrize(
    ("model", "acknowledged", "ended"),
    [("gemini:m", False, True), ("gemini:m", True, False), ("openai:m", False, False)],
)
def test_a_provider_may_want_a_turn_to_end_without_a_confirmation(
    model: str, acknowledged: bool, ended: bool
) -> None:
    asking = replace(CLICK, checks=(SafetyCheck("", "require_confirmation", "It pays."),))

    async def answer(call: ToolCall) -> ToolResult:
        said = (Text("Not done: a person refused."),)
        failed = not acknowledged
        return ToolResult(call.id, said, failed, call.toolset, acknowledged)

    replies = ModelOf(reply(Text("I pay."), asking), reply(Text("Done.")))
    settings = LoopSettings(model=model, system="Be good.")
    end = turn(replies, toolbox=ToolboxOf(answer), settings=settings)
    expected = ("blocked", "refusal", "I pay.") if ended else ("done", None, "Done.")
    assert (end.outcome, end.error_kind, end.report) == expected
    assert len(replies.prompts) == (1 if ended else 2)


def test_a_reply_that_was_cut_off_is_continued() -> None:
    transcript = MemoryTranscript(user("Do it."))
    cut = reply(Text("A long"), CLICK, TYPE, stop_reason="max_tokens")
    toolbox = ToolboxOf()
    end = turn(ModelOf(cut, reply(Text("story."))), transcript, toolbox)
    assert toolbox.called == [CLICK], "the input of the last call may be incomplete"
    assert transcript.kept[1] == Message("assistant", (Text("A long"), CLICK))
    assert transcript.kept[3].role == "user"
    assert end.report == "story."


def test_a_reply_cut_off_in_its_only_call_leaves_nothing_empty_behind() -> None:
    transcript = MemoryTranscript(user("Do it."))
    turn(ModelOf(reply(CLICK, stop_reason="max_tokens"), reply(Text("Ok."))), transcript)
    assert [m.role for m in transcript.kept] == ["user", "user", "assistant"]


def test_replies_that_keep_being_cut_off_end_the_turn() -> None:
    cut = reply(Text("Again"), stop_reason="max_tokens")
    end = turn(ModelOf(cut, cut, cut))
    assert (end.outcome, end.error_kind) == ("failed", "max_tokens")


def test_a_paused_turn_is_sent_back_as_it_is() -> None:
    model = ModelOf(reply(Text("Hm"), stop_reason="pause_turn"), reply(Text("Done.")))
    end = turn(model)
    assert model.prompts[1].messages[-1] == Message("assistant", (Text("Hm"),))
    assert end.report == "Done."


def test_cancelling_during_a_reply_keeps_its_text() -> None:
    async def scenario() -> None:
        transcript = MemoryTranscript(user("Do it."))
        model = ModelOf(asyncio.Event())
        on_partial: list[str] = []
        task = asyncio.create_task(
            run_turn(transcript, model, ToolboxOf(), SETTINGS, lambda: 0.0, on_partial.append)
        )
        await model.asked.wait()
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert transcript.kept[-1] == Message("assistant", (Text("Half a sen"),))
        assert on_partial == ["Half a sen"]

    asyncio.run(scenario())


def test_cancelling_before_the_model_speaks_adds_nothing() -> None:
    async def scenario() -> None:
        transcript = MemoryTranscript(user("Do it."))
        model = ModelOf(asyncio.Event(), says="")
        task = asyncio.create_task(run_turn(transcript, model, ToolboxOf(), SETTINGS, lambda: 0.0))
        await model.asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert transcript.kept == [user("Do it.")]

    asyncio.run(scenario())


def test_cancelling_while_a_tool_runs_answers_every_call() -> None:
    async def scenario() -> None:
        running = asyncio.Event()

        async def hanging(call: ToolCall) -> ToolResult:
            if call == CLICK:
                return await succeeded(call)
            running.set()
            await asyncio.Event().wait()
            raise AssertionError("never")

        transcript = MemoryTranscript(user("Do it."))
        model = ModelOf(reply(CLICK, RUN, TYPE))
        task = asyncio.create_task(
            run_turn(transcript, model, ToolboxOf(hanging), SETTINGS, lambda: 0.0)
        )
        await running.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        answers = results(transcript.kept[-1])
        assert [(r.call_id, r.is_error) for r in answers] == [
            ("c1", False),
            ("c3", True),
            ("c2", True),
        ]

    asyncio.run(scenario())


def test_a_stuck_agent_is_ended() -> None:
    toolbox = ToolboxOf()
    end = turn(ModelOf(*[reply(RUN)] * 30), None, toolbox)
    assert (end.outcome, end.error_kind) == ("failed", "watchdog")
    assert "nothing changes" in str(end.error)
    assert end.steps == len(toolbox.called) == 20


def test_an_agent_that_calls_only_what_is_not_offered_is_ended() -> None:
    end = turn(ModelOf(*[reply(CLICK)] * 30), None, ToolboxOf(computer=False))
    assert (end.outcome, end.error_kind, end.steps) == ("failed", "watchdog", 20)


def test_only_the_last_computer_call_of_a_reply_is_to_have_a_picture() -> None:
    toolbox = ToolboxOf()
    turn(ModelOf(reply(RUN, CLICK, TYPE), reply(CLICK, TYPE, RUN), reply(Text("."))), None, toolbox)
    assert toolbox.pictures == [False, False, True, False, True, True]


def test_dropped_thinking_is_recorded_with_the_first_call_of_the_reply() -> None:
    toolbox = ToolboxOf()
    two = reply(CLICK, TYPE, usage=Usage(1, 1, dropped_thinking=2))
    end = turn(ModelOf(two, reply(Text("."))), None, toolbox)
    recorded = [one and one.usage.dropped_thinking for one in toolbox.requests]
    assert (recorded, end.usage.dropped_thinking) == ([2, None], 2)


def test_a_reply_that_an_earlier_process_cut_off_is_continued_by_a_message() -> None:
    transcript = MemoryTranscript(user("Do it."), Message("assistant", (Text("Half a"),)))
    model = ModelOf(reply(Text("sentence.")))
    turn(model, transcript)
    assert model.prompts[0].messages[-1].role == "user"


def test_after_a_reply_that_filled_the_context_window_the_history_is_shorter() -> None:
    transcript = MemoryTranscript(user("Do it."))
    full = reply(Text("x"), CLICK, stop_reason="model_context_window_exceeded")
    model = ModelOf(full, reply(Text("Done.")))
    end = turn(model, transcript, settings=LoopSettings("claude-opus-5-5", "Be useful."))
    assert (end.error, end.report) == (None, "Done.")
    assert transcript.begun == ["the limit of 1,000,000 tokens of context window"]
    (summary,) = model.prompts[-1].messages
    assert CUT_SHORT in str(summary)
