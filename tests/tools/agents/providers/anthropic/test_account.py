import asyncio
import gc
import sys
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any

import anthropic
import httpx2
import pytest

from deskhand.tools.agents.providers.anthropic.account import (
    PROVIDER,
    AnthropicModel,
    _classified,
)
from deskhand.tools.agents.providers.attempts import RetryPolicy
from deskhand.tools.agents.providers.errors import (
    KeyRefused,
    LimitReached,
    ModelOverloaded,
    ModelRefused,
    ModelUnavailable,
    NoSummary,
)
from deskhand.tools.agents.providers.model_table import UNKNOWN, model_facts
from deskhand.tools.agents.providers.port import CompactingModel, Prompt
from deskhand.tools.agents.providers.provider_table import ModelAccount
from deskhand.tools.agents.scripted.script.request import Measured
from deskhand.tools.agents.scripted.script.script import read_script
from deskhand.tools.agents.scripted.server import ScriptedModelServer
from deskhand.tools.conversation.conversation import (
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from tests.tools.agents.loop.fakes import user
from tests.tools.agents.providers.adapters import ADAPTERS
from tests.tools.agents.providers.setting import SPEC, Setting, run
from tests.tools.agents.providers.setting import playing as playing_with

ADAPTER = ADAPTERS[0]
CALLING: dict[str, Any] = {
    "say": "I click.",
    "calls": [{"computer.left_click": {"coordinate": [3, 4]}}, {"execute": {"command": "ls"}}],
}


def playing(*steps: dict[str, Any]) -> AbstractAsyncContextManager[Setting]:
    return playing_with(ADAPTER, *steps)


def compacting(setting: Setting) -> CompactingModel:
    assert isinstance(setting.model, CompactingModel)
    return setting.model


def test_a_reply_has_its_text_calls_and_tokens() -> None:
    async def scenario() -> None:
        async with playing(CALLING) as s:
            reply = await s.ask()
            text, click, execute = reply.content
            assert text == Text("I click.")
            assert isinstance(click, ToolCall)
            assert isinstance(execute, ToolCall)
            assert (click.name, click.arguments, click.toolset) == (
                "left_click",
                {"coordinate": [3, 4]},
                "computer",
            )
            assert (execute.name, execute.arguments, execute.toolset) == (
                "execute",
                {"command": "ls"},
                None,
            )
            assert reply.stop_reason == "tool_use"
            assert reply.usage.input_tokens > 0
            assert reply.usage.output_tokens > 0
            assert s.texts[-1] == "I click."
            assert s.texts[0] == "I cl"

    run(scenario)


@pytest.mark.parametrize(
    ("model", "thought"),
    [("claude-sonnet-4-5", {}), ("claude-opus-4-5", {}), ("claude-opus-4-5", {"think": "Hm."})],
)
def test_a_model_with_an_older_computer_tool_acts_by_it(model: str, thought: Any) -> None:
    async def scenario() -> None:
        script = read_script(model, {"steps": [{**thought, **CALLING}, {"say": "Seen."}]})
        async with ScriptedModelServer([script]) as server:
            s = Setting(ADAPTER, server)
            first = await s.ask(model=model)
            click, execute = (b for b in first.content if isinstance(b, ToolCall))
            assert any(isinstance(b, Thinking) for b in first.content) is bool(thought)
            assert (click.name, click.arguments) == ("left_click", {"coordinate": [3, 4]})
            shot = Image("f1", "image/png", 1280, 720)
            answers = (
                ToolResult(click.id, (Text("Clicked."), shot), toolset=click.toolset),
                ToolResult(execute.id, (Text("a.txt"),)),
            )
            text = (user("Go."), Message("assistant", first.content), Message("user", answers))
            assert (await s.ask(*text, model=model)).content == (Text("Seen."),)
            assert len(server.log[-1].pictures) == 1
            await s.model.close()

    run(scenario)


@pytest.mark.parametrize(
    ("model", "accepted"), [("claude-opus-4-8", True), ("claude-opus-5-5", True), ("test", False)]
)
def test_a_picture_that_was_removed_is_replaced_by_a_text(model: str, accepted: bool) -> None:
    async def scenario() -> None:
        # The server takes every model's thinking for bound to its prefix.
        thought = {"think": "Hm."} if model_facts(model).bound else {}
        script = read_script(model, {"steps": [{**thought, **CALLING}, {"say": "Seen."}]})
        async with ScriptedModelServer([script]) as server:
            s = Setting(ADAPTER, server)
            shot = Image("f1", "image/png", 1280, 720)
            begin = (Message("user", (Text("Go."), shot)),)
            first = await s.ask(*begin, model=model)
            calls = [b for b in first.content if isinstance(b, ToolCall)]
            answers = tuple(ToolResult(c.id, (Text("Done."),), toolset=c.toolset) for c in calls)
            text = (*begin, Message("assistant", first.content), Message("user", answers))
            s.pictures.pictures.clear()
            if accepted:
                assert (await s.ask(*text, model=model)).content == (Text("Seen."),)
                assert server.log[-1].pictures == ()
            else:
                # It is bound to its prefix, and may not be asked to drop what does not fit.
                with pytest.raises(ModelRefused, match="A picture of this chat's history was"):
                    await s.ask(*text, model=model)
            await s.model.close()

    run(scenario)


def test_results_with_pictures_go_back_as_the_provider_wants_them() -> None:
    async def scenario() -> None:
        async with playing(CALLING, {"say": "Seen."}) as s:
            first = await s.ask()
            calls = [b for b in first.content if isinstance(b, ToolCall)]
            shot = Image("f1", "image/png", 1280, 720)
            answers = (
                ToolResult(calls[0].id, (Text("Clicked."), shot), toolset="computer"),
                ToolResult(calls[1].id, (Text("no such file"),), is_error=True),
            )
            text = (user("Go."), Message("assistant", first.content), Message("user", answers))
            second = await s.ask(*text)
            assert second.content == (Text("Seen."),)
            assert s.server.log[-1].pictures == (Measured("image/png", 1280, 720),)
            assert s.pictures.loaded == ["f1"]
            assert s.pauses == []

    run(scenario)


@pytest.mark.parametrize(
    "kind",
    [
        *("rate_limit", "overloaded", "server_error"),
        *("cut", "unfinished", "stream_error", "malformed"),
    ],
)
def test_what_goes_wrong_for_a_while_is_tried_again(kind: str) -> None:
    async def scenario() -> None:
        async with playing({**CALLING, "fault": {"kind": kind, "times": 3}}) as s:
            reply = await s.ask()
            assert reply.content[0] == Text("I click.")
            assert s.pauses == [1.0, 2.0, 4.0]
            assert [entry.fault for entry in s.server.log] == [kind] * 3 + [None]
            assert s.texts[-1] == "I click."

    run(scenario)


@contextmanager
def left_open() -> Iterator[list[str]]:
    """Yield the names of generators that were not closed before they were collected."""
    names: list[str] = []
    usual = sys.get_asyncgen_hooks()

    def collected(generator: Any) -> None:
        names.append(generator.__qualname__)
        if usual.finalizer is not None:
            usual.finalizer(generator)

    sys.set_asyncgen_hooks(usual.firstiter, collected)
    try:
        yield names
    finally:
        gc.collect()
        sys.set_asyncgen_hooks(*usual)


@pytest.mark.parametrize("kind", ["cut", "unfinished", "stream_error", "malformed"])
def test_an_answer_that_breaks_off_leaves_nothing_to_the_collector(kind: str) -> None:
    async def scenario() -> None:
        async with playing({**CALLING, "fault": {"kind": kind, "times": 1}}) as s:
            with left_open() as names:
                await s.ask()
            assert names == []

    run(scenario)


def test_pauses_grow_to_a_minute_and_attempts_are_limited() -> None:
    async def scenario() -> None:
        async with playing({"say": "x", "fault": {"kind": "server_error", "times": 99}}) as s:
            with pytest.raises(ModelUnavailable) as caught:
                await s.ask()
            assert caught.value.attempts == len(s.server.log) == 25
            assert s.pauses == [1, 2, 4, 8, 16, 32] + [60] * 18
            assert not isinstance(caught.value, ModelOverloaded)

    run(scenario)


@pytest.mark.parametrize("kind", ["rate_limit", "overloaded"])
def test_an_overload_that_lasts_is_named_as_such(kind: str) -> None:
    async def scenario() -> None:
        async with playing({"say": "x", "fault": {"kind": kind, "times": 99}}) as s:
            client = s.client(attempts=2)
            with pytest.raises(ModelOverloaded):
                await s.ask(client=client)
            await client.close()

    run(scenario)


def test_a_first_chunk_that_does_not_come_is_given_up_and_tried_again() -> None:
    async def scenario() -> None:
        async with playing({"say": "Late.", "fault": {"kind": "slow", "seconds": 600}}) as s:
            client = s.client(first_chunk=0.2)
            reply = await s.ask(client=client)
            assert reply.content == (Text("Late."),)
            assert s.pauses[0] == 1.0
            await client.close()

    run(scenario)


def test_a_server_that_is_not_there_is_tried_until_the_attempts_end() -> None:
    async def scenario() -> None:
        async with playing({"say": "x"}) as s:
            url = s.server.url
        client = AnthropicModel(
            s.pictures,
            api_key="x",
            base_url=url,
            retry_policy=RetryPolicy(attempts=3),
            sleep=s._pause,
        )
        with pytest.raises(ModelUnavailable):
            await s.ask(client=client)
        assert s.pauses == [1.0, 2.0]
        await client.close()

    run(scenario)


def test_a_wrong_key_or_model_is_refused_at_once_with_advice() -> None:
    async def scenario() -> None:
        async with playing({"say": "x"}) as s:
            client = s.client(api_key="wrong")
            with pytest.raises(KeyRefused, match=r"refused ANTHROPIC_API_KEY \(401\): set a valid"):
                await s.ask(client=client)
            await client.close()
            with pytest.raises(ModelRefused, match="Check the model's name"):
                await s.ask(model="no-such")
            assert s.pauses == []

    run(scenario)


def test_a_request_against_the_protocol_is_refused_at_once() -> None:
    async def scenario() -> None:
        async with playing({"say": "x"}) as s:
            calls = Message("assistant", (ToolCall("a", "execute", {}),))
            with pytest.raises(ModelRefused, match="no results") as caught:
                await s.ask(user("Go."), calls)
            assert caught.value.status == 400
            assert s.pauses == []

    run(scenario)


def test_other_stop_reasons_are_handed_on() -> None:
    async def scenario() -> None:
        async with playing({"say": "No.", "stop_reason": "refusal"}) as s:
            assert (await s.ask()).stop_reason == "refusal"

    run(scenario)


def test_cancelling_ends_the_wait_for_an_answer() -> None:
    async def scenario() -> None:
        async with playing({"say": "Late.", "fault": {"kind": "slow", "seconds": 600}}) as s:
            task = asyncio.create_task(s.ask())
            async with asyncio.timeout(20):
                await s.server.received(1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert s.pauses == []

    run(scenario)


def test_a_conversation_is_compacted_on_demand_and_goes_on_from_the_summary() -> None:
    async def scenario() -> None:
        async with playing(CALLING, {"say": "Done."}) as s:
            first = (user("Go."), Message("assistant", (await s.ask()).content))
            calls = [b for b in first[1].content if isinstance(b, ToolCall)]
            results = tuple(ToolResult(c.id, (Text("ok"),), toolset=c.toolset) for c in calls)
            prompt = Prompt("Be good.", (*first, Message("user", results)), (SPEC,), True, "test")
            compacted = await compacting(s).compact(prompt)
            (block,) = compacted.blocks
            assert block.data["content"] == compacted.text
            assert compacted.usage.input_tokens > 0
            reply = await s.ask(Message("assistant", compacted.blocks), user("Go on."))
            assert reply.content == (Text("Done."),)
            assert reply.request_bytes > 0

    run(scenario)


def test_an_empty_summary_is_an_error() -> None:
    async def scenario() -> None:
        async with playing({"say": "x", "fault": {"kind": "empty_summary"}}, CALLING) as s:
            prompt = Prompt("Be good.", (user("Go."),), (), False, "test")
            with pytest.raises(NoSummary, match="it is empty"):
                await compacting(s).compact(prompt)

    run(scenario)


def test_too_many_pictures_are_named_with_the_limit_before_anything_is_sent() -> None:
    async def scenario() -> None:
        async with playing({"say": "x"}) as s:
            shots = (Image("f1", "image/png", 1280, 720),) * 601
            with pytest.raises(LimitReached, match="600 pictures per request"):
                await s.ask(Message("user", shots))
            assert not s.server.log

    run(scenario)


def test_a_request_that_is_too_large_is_named_with_the_limit_before_it_is_sent() -> None:
    async def scenario() -> None:
        async with playing({"say": "x"}) as s:
            s.pictures.pictures["f1"] = bytes(25 * 1024 * 1024)
            with pytest.raises(LimitReached, match="32 MB per request"):
                await s.ask(Message("user", (Image("f1", "image/png", 1280, 720),)))
            assert not s.server.log

    run(scenario)


def test_a_model_that_the_provider_limits_to_fewer_pictures_is_no_other_error() -> None:
    refusal = anthropic.BadRequestError(
        "Too many images: 102 > 100",
        response=httpx2.Response(400, request=httpx2.Request("POST", "http://provider/")),
        body={"error": {"type": "invalid_request_error", "message": "Too many images: 102 > 100"}},
    )
    assert "100 pictures" in str(_classified(refusal, UNKNOWN, ModelAccount(PROVIDER, "")))
