"""What holds for each provider: its adapter over the real SDK, against the scripted server."""

import asyncio
from typing import Any

import numpy as np
import pytest

from deskhand.tools.agents.checkpoints.own_summary import SUMMARY_REQUEST
from deskhand.tools.agents.loop.budget import TurnBudget
from deskhand.tools.agents.loop.turn import LoopSettings, TurnEnd, run_turn
from deskhand.tools.agents.providers.errors import (
    HostUnreachable,
    KeyRefused,
    LimitReached,
    ModelOverloaded,
    ModelRefused,
    NoCredit,
    NoSummary,
)
from deskhand.tools.agents.providers.port import CompactingModel, ModelReply, Prompt
from deskhand.tools.agents.scripted.script.request import Measured
from deskhand.tools.conversation.conversation import Image, Message, Text, ToolCall, ToolResult
from tests.tools.agents.loop.fakes import (
    MemoryTranscript,
    ToolboxOf,
    encoded,
    user,
)

from .adapters import ADAPTERS, TestedAdapter
from .setting import Setting, playing, run

CALLING: dict[str, Any] = {
    "say": "I click.",
    "calls": [{"computer.left_click": {"coordinate": [3, 4]}}, {"execute": {"command": "ls"}}],
}
SHOT = Image("f1", "image/png", 1280, 720)

pytestmark = pytest.mark.parametrize("adapter", ADAPTERS, ids=str)


def calls_in(reply: ModelReply) -> list[ToolCall]:
    return [block for block in reply.content if isinstance(block, ToolCall)]


def texts_in(reply: ModelReply) -> list[str]:
    return [block.text for block in reply.content if isinstance(block, Text)]


def answered(reply: ModelReply, *contents: tuple[Text | Image, ...]) -> tuple[Message, Message]:
    results = tuple(
        ToolResult(call.id, content, toolset=call.toolset)
        for call, content in zip(calls_in(reply), contents, strict=True)
    )
    return Message("assistant", reply.content), Message("user", results)


def test_a_reply_has_its_text_calls_and_tokens(adapter: TestedAdapter) -> None:
    async def scenario() -> None:
        async with playing(adapter, CALLING) as s:
            reply = await s.ask()
            click, execute = calls_in(reply)
            assert texts_in(reply) == ["I click."]
            assert (click.name, click.arguments) == ("left_click", {"coordinate": [3, 4]})
            assert (click.toolset, click.checks) == ("computer", ())
            assert (execute.name, execute.arguments) == ("execute", {"command": "ls"})
            assert execute.toolset is None
            assert reply.stop_reason == "tool_use"
            assert reply.usage.input_tokens > 0
            assert reply.usage.output_tokens > 0
            # The text grows while it arrives.
            assert s.texts[-1] == "I click."
            assert s.texts[0] == "I cl"

    run(scenario)


def test_results_return_with_their_pictures(adapter: TestedAdapter) -> None:
    async def scenario() -> None:
        async with playing(adapter, {"think": "Hm.", **CALLING}, {"say": "Seen."}) as s:
            first = await s.ask()
            contents = (Text("Clicked."), SHOT), (Text("no such file"),)
            second = await s.ask(user("Go."), *answered(first, *contents))
            assert texts_in(second) == ["Seen."]
            assert s.server.log[-1].pictures[-1] == Measured("image/png", 1280, 720)
            # The reasoning fits its prefix.
            assert second.usage.dropped_thinking == 0
            assert s.pauses == []

    run(scenario)


@pytest.mark.parametrize(
    "kind",
    [
        *("rate_limit", "overloaded", "server_error"),
        *("cut", "unfinished", "stream_error", "malformed"),
    ],
)
def test_what_goes_wrong_for_a_while_is_tried_again(adapter: TestedAdapter, kind: str) -> None:
    async def scenario() -> None:
        async with playing(adapter, {**CALLING, "fault": {"kind": kind, "times": 2}}) as s:
            reply = await s.ask()
            assert texts_in(reply) == ["I click."]
            assert s.pauses == [1.0, 2.0]
            assert [entry.fault for entry in s.server.log] == [kind] * 2 + [None]
            assert s.texts[-1] == "I click."

    run(scenario)


@pytest.mark.parametrize("kind", ["rate_limit", "overloaded"])
def test_an_overload_that_lasts_is_named_as_such(adapter: TestedAdapter, kind: str) -> None:
    async def scenario() -> None:
        async with playing(adapter, {"say": "x", "fault": {"kind": kind, "times": 99}}) as s:
            with pytest.raises(ModelOverloaded):
                await s.ask(client=s.client(attempts=2))

    run(scenario)


def test_a_stream_that_stops_after_reasoning_is_tried_again(adapter: TestedAdapter) -> None:
    async def scenario() -> None:
        step = {"think": "Hm.", "say": "x", "fault": {"kind": "unfinished"}}
        async with playing(adapter, step) as s:
            assert texts_in(await s.ask()) == ["x"]
            assert s.pauses == [1.0]

    run(scenario)


def test_a_reply_of_reasoning_alone_can_be_followed(adapter: TestedAdapter) -> None:
    async def scenario() -> None:
        thought = {"think": "Hm.", "stop_reason": "end_turn"}
        async with playing(adapter, thought, {"say": "Now."}) as s:
            first = await s.ask()
            assert (texts_in(first), first.stop_reason) == ([], "end_turn")
            second = await s.ask(user("Go."), Message("assistant", first.content), user("On."))
            # Where reasoning alone cannot be sent back, the script begins again.
            assert second.stop_reason == "end_turn"
            assert s.pauses == []

    run(scenario)


def test_a_first_event_that_does_not_come_is_given_up_and_tried_again(
    adapter: TestedAdapter,
) -> None:
    async def scenario() -> None:
        fault = {"kind": "slow", "seconds": 600}
        async with playing(adapter, {"say": "Late.", "fault": fault}) as s:
            reply = await s.ask(client=s.client(first_chunk=0.2))
            assert texts_in(reply) == ["Late."]
            # On a busy machine the second attempt may be late too.
            assert s.pauses[0] == 1.0

    run(scenario)


def test_a_key_that_is_not_accepted_is_named_by_its_variable(adapter: TestedAdapter) -> None:
    async def scenario() -> None:
        async with playing(adapter, {"say": "x"}) as s:
            with pytest.raises(KeyRefused) as caught:
                await s.ask(client=s.client(api_key="wrong"))
            title, variable = adapter.provider.title, adapter.provider.keys[0]
            assert str(caught.value) == (
                f"{title} refused {variable} ({adapter.key_status}):"
                " set a valid key and run the same command again"
            )
            assert s.pauses == []

    run(scenario)


def test_an_account_without_credit_is_named(adapter: TestedAdapter) -> None:
    async def scenario() -> None:
        async with playing(adapter, {"say": "x", "fault": {"kind": "no_credit"}}) as s:
            with pytest.raises(NoCredit) as caught:
                await s.ask()
            title, variable = adapter.provider.title, adapter.provider.keys[0]
            assert str(caught.value) == (
                f"{title} accepted {variable}, but the account has no credit: add credit, or"
                " choose another provider with --model"
            )
            assert s.pauses == []

    run(scenario)


def test_a_host_without_an_answer_is_named(adapter: TestedAdapter) -> None:
    async def scenario() -> None:
        async with playing(adapter, {"say": "x"}) as s:
            pass
        with pytest.raises(HostUnreachable, match=r"^127\.0\.0\.1:\d+ cannot be reached: check"):
            await s.ask(client=s.client())
        assert s.pauses == [1.0, 2.0]
        await s.close()

    run(scenario)


def test_an_unknown_model_and_a_refused_image_are_not_tried_again(adapter: TestedAdapter) -> None:
    async def scenario() -> None:
        async with playing(adapter, {"say": "x", "fault": {"kind": "refused_image"}}) as s:
            with pytest.raises(ModelRefused, match="Check the model's name"):
                await s.ask(script="no-such")
            with pytest.raises(ModelRefused, match="Could not process image"):
                await s.ask(Message("user", (Text("Go."), SHOT)))
            assert s.pauses == []

    run(scenario)


@pytest.mark.parametrize("reason", ["refusal", "max_tokens", "pause_turn"])
def test_other_ends_of_a_reply_are_passed_on(adapter: TestedAdapter, reason: str) -> None:
    async def scenario() -> None:
        async with playing(adapter, {"say": "No.", "stop_reason": reason}) as s:
            assert (await s.ask()).stop_reason == reason

    run(scenario)


def test_cancelling_ends_the_wait_for_an_answer(adapter: TestedAdapter) -> None:
    async def scenario() -> None:
        fault = {"kind": "slow", "seconds": 600}
        async with playing(adapter, {"say": "Late.", "fault": fault}) as s:
            task = asyncio.create_task(s.ask())
            async with asyncio.timeout(20):
                await s.server.received(1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert s.pauses == []

    run(scenario)


def test_more_pictures_than_the_model_takes_are_not_sent(adapter: TestedAdapter) -> None:
    async def scenario() -> None:
        async with playing(adapter, {"say": "x"}) as s:
            with pytest.raises(LimitReached, match="pictures per request"):
                await s.ask(Message("user", (SHOT,) * 4000))
            assert not s.server.log

    run(scenario)


def test_a_reply_has_the_size_of_its_request(adapter: TestedAdapter) -> None:
    # By it a checkpoint is due before the provider refuses the request.
    noise = encoded(np.random.default_rng(1).integers(0, 255, (200, 300, 3), dtype=np.uint8))

    async def scenario() -> None:
        async with playing(adapter, {"say": "Seen."}) as s:
            s.pictures.pictures["noise"] = noise
            shot = Image("noise", "image/png", 300, 200)
            plain = await s.ask(Message("user", (Text("Go."),)))
            seen = await s.ask(Message("user", (Text("Go."), shot)))
            assert plain.request_bytes > 0
            # In base64 three bytes are four.
            grown = seen.request_bytes - plain.request_bytes
            assert grown == pytest.approx(len(noise) * 4 / 3, rel=0.01)

    run(scenario)


def test_a_removed_picture_is_replaced_by_a_text(adapter: TestedAdapter) -> None:
    async def scenario() -> None:
        async with playing(adapter, CALLING, {"say": "Seen."}) as s:
            first = await s.ask(Message("user", (Text("Go."), SHOT)))
            s.pictures.pictures.clear()
            parts = answered(first, (Text("Clicked."), SHOT), (Text("x"),))
            second = await s.ask(Message("user", (Text("Go."), SHOT)), *parts)
            assert texts_in(second) == ["Seen."]

    run(scenario)


def test_what_was_read_from_the_cache_is_counted_apart(adapter: TestedAdapter) -> None:
    async def scenario() -> None:
        async with playing(adapter, CALLING, {"say": "Seen."}) as s:
            task = user("Go. " * 5000)
            first = await s.ask(task)
            assert first.usage.cache_read_tokens == 0
            written = first.usage.cache_write_tokens
            assert (written > 4000) == adapter.writes_cache
            second = await s.ask(task, *answered(first, (Text("Clicked."), SHOT), (Text("x"),)))
            expected = (written or first.usage.input_tokens) if adapter.reads_cache else 0
            assert second.usage.cache_read_tokens == expected
            # What was not read is what came after the task, and what the script sees of tools.
            assert (second.usage.input_tokens < 3000) == adapter.reads_cache

    run(scenario)


async def turn_of(
    s: Setting, *, computer: bool = True, steps: int = 100
) -> tuple[TurnEnd, list[ToolCall], MemoryTranscript]:
    made: list[ToolCall] = []

    async def answer(call: ToolCall) -> ToolResult:
        made.append(call)
        shown = (Text("Done."), SHOT) if call.toolset else (Text("Done."),)
        return ToolResult(call.id, shown, toolset=call.toolset)

    transcript = MemoryTranscript(user("Go."))
    settings = LoopSettings(s.adapter.model("test"), "Be good.", TurnBudget(steps=steps))
    toolbox = ToolboxOf(answer, computer=computer)
    end = await run_turn(transcript, s.model, toolbox, settings, lambda: 0.0)
    assert all(entry.status == 200 for entry in s.server.log)
    return end, made, transcript


REPORTED = {"report": {"summary": "x", "outcome": "done"}}


def test_two_calls_of_one_id_are_run_once(adapter: TestedAdapter) -> None:
    async def scenario() -> None:
        calls = [{"computer.left_click": {"coordinate": [3, 4]}}] * 2
        step = {"calls": calls, "fault": {"kind": "same_id"}}
        async with playing(adapter, step, REPORTED) as s:
            end, made, transcript = await turn_of(s)
            assert end.outcome == "done"
            assert len(made) == 1
            texts = [b.text for b in transcript.kept[2].content if isinstance(b, Text)]
            assert "had the id of another call" in texts[0]

    run(scenario)


def test_a_call_for_a_toolset_that_was_never_offered_is_answered_in_words(
    adapter: TestedAdapter,
) -> None:
    async def scenario() -> None:
        async with playing(adapter, {"calls": [{"computer.screenshot": {}}]}, {"say": "x"}) as s:
            end, made, transcript = await turn_of(s, computer=False, steps=2)
            assert end.error is None or end.error_kind == "budget"
            assert made == []
            texts = [b.text for b in transcript.kept[1].content if isinstance(b, Text)]
            texts += [b.text for b in transcript.kept[2].content if isinstance(b, Text)]
            assert any("there is no computer here" in text for text in texts)

    run(scenario)


def test_an_empty_summary_is_noticed(adapter: TestedAdapter) -> None:
    async def scenario() -> None:
        fault = {"kind": "empty_summary"}
        async with playing(adapter, {"say": "x", "fault": fault}, {"say": "y"}) as s:
            if adapter.provider.name in ("anthropic", "openai"):
                # Their own means; the name is one of a model that has them.
                assert isinstance(s.model, CompactingModel)
                model = s.adapter.model("test")
                with pytest.raises(NoSummary, match="it is empty"):
                    await s.model.compact(Prompt("Be good.", (user("Go."),), (), False, model))
                return
            # The loop asks the model itself, and reports an answer without words. Gemini's empty
            # answers are errors that pass.
            reply = await s.ask(user("Go."), user(SUMMARY_REQUEST))
            again = adapter.provider.name == "gemini"
            assert (len(s.pauses), len(texts_in(reply))) == (again, again)

    run(scenario)


def test_thirty_calls_in_one_reply_are_all_answered(adapter: TestedAdapter) -> None:
    async def scenario() -> None:
        calls: list[dict[str, Any]]
        calls = [{"computer.left_click": {"coordinate": [i, 9999]}} for i in range(15)]
        calls += [{"execute": {"command": str(i)}} for i in range(15)]
        async with playing(adapter, {"calls": calls}, REPORTED) as s:
            end, made, _ = await turn_of(s)
            assert end.outcome == "done"
            assert len(made) == 30
            # A point outside the screen is the nearest one on it, at the latest on the desktop.
            assert made[1].arguments["coordinate"][1] in (719, 9999)

    run(scenario)


def test_a_turn_of_reasoning_alone_ends(adapter: TestedAdapter) -> None:
    async def scenario() -> None:
        async with playing(adapter, {"think": "Hm.", "stop_reason": "end_turn"}) as s:
            end, made, _ = await turn_of(s)
            assert (end.error, end.outcome_source, made) == (None, "assumed", [])

    run(scenario)
