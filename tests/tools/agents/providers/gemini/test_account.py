"""What is particular to Gemini; what holds for every provider is in ``test_all_providers``."""

import gc
import sys
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any

import pytest

from deskhand.tools.agents.providers.attempts import AttemptFailed
from deskhand.tools.agents.providers.errors import (
    KeyRefused,
    LimitReached,
    ModelRefused,
    ModelUnavailable,
    NoCredit,
)
from deskhand.tools.agents.providers.gemini.account import (
    OLD_TOOL,
    PROVIDER,
    _classified,
)
from deskhand.tools.agents.providers.model_table import model_facts
from deskhand.tools.agents.providers.port import ModelReply
from deskhand.tools.agents.providers.provider_table import ModelAccount
from deskhand.tools.agents.scripted.script.request import Measured
from deskhand.tools.conversation.conversation import (
    Image,
    Message,
    SafetyCheck,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from tests.tools.agents.loop.fakes import user
from tests.tools.agents.providers.adapters import ADAPTERS
from tests.tools.agents.providers.setting import Setting, run
from tests.tools.agents.providers.setting import playing as playing_with

ADAPTER = ADAPTERS[2]
SHOT = Image("f1", "image/png", 1280, 720)
CALLING: dict[str, Any] = {
    "say": "I click.",
    "calls": [{"computer.left_click": {"coordinate": [640, 72]}}, {"execute": {"command": "ls"}}],
}


def playing(*steps: dict[str, Any]) -> AbstractAsyncContextManager[Setting]:
    return playing_with(ADAPTER, *steps)


def calls_of(reply: ModelReply) -> list[ToolCall]:
    return [block for block in reply.content if isinstance(block, ToolCall)]


def answered(reply: ModelReply, **changes: Any) -> tuple[Message, Message]:
    results = tuple(
        ToolResult(call.id, (Text("Done."),), toolset=call.toolset, **changes)
        for call in calls_of(reply)
    )
    return Message("assistant", reply.content), Message("user", results)


def test_a_reply_has_its_text_thoughts_calls_and_tokens() -> None:
    async def scenario() -> None:
        async with playing({"think": "Where is it?", **CALLING}) as s:
            reply = await s.ask()
            click, execute = calls_of(reply)
            assert (click.name, click.arguments, click.toolset) == (
                "left_click",
                {"coordinate": [640, 72]},
                "computer",
            )
            assert click.reason == "I click."
            assert (execute.name, execute.arguments, execute.toolset) == (
                "execute",
                {"command": "ls"},
                None,
            )
            thought, *_ = [b for b in reply.content if isinstance(b, Thinking)]
            assert thought.data["part"] == {"text": "Where is it?", "thought": True}
            assert [b for b in reply.content if isinstance(b, Text)] == [Text("I click.")]
            assert (reply.stop_reason, s.texts[0], s.texts[-1]) == (
                "tool_use",
                "I cl",
                "I click.",
            )
            assert reply.usage.input_tokens > 0
            assert reply.usage.output_tokens > 0

    run(scenario)


def test_results_and_signatures_go_back_as_the_provider_wants_them() -> None:
    async def scenario() -> None:
        async with playing(
            CALLING, {"say": "Seen.", "calls": [{"execute": {}}]}, {"say": "."}
        ) as s:
            first = await s.ask()
            click, execute = calls_of(first)
            results = (
                ToolResult(click.id, (Text("Clicked."), SHOT), toolset="computer"),
                ToolResult(execute.id, (Text("no such file"),), is_error=True),
            )
            history = (
                user("Go."),
                Message("assistant", first.content),
                Message("user", (*results, Text("And now?"))),
            )
            second = await s.ask(*history)
            third = await s.ask(*history, *answered(second))
            assert [b for b in third.content if isinstance(b, Text)] == [Text(".")]
            assert [e.status for e in s.server.log] == [200, 200, 200]
            assert s.server.log[-1].pictures == (Measured("image/png", 1280, 720),)
            assert s.pauses == []

    run(scenario)


def test_a_changed_history_is_refused() -> None:
    async def scenario() -> None:
        async with playing(CALLING, {"say": "Seen."}) as s:
            first = await s.ask()
            with pytest.raises(ModelRefused, match="Corrupted thought signature"):
                await s.ask(user("Something else."), *answered(first))

    run(scenario)


def test_calls_without_their_parts_are_written_anew() -> None:
    """As after a checkpoint, which leaves all thinking blocks out."""

    async def scenario() -> None:
        async with playing(CALLING, {"say": "Seen."}) as s:
            first = await s.ask()
            bare = tuple(b for b in first.content if not isinstance(b, Thinking))
            said, results = answered(ModelReply(bare, "tool_use", first.usage))
            second = await s.ask(user("Something else."), said, results)
            assert Text("Seen.") in second.content

    run(scenario)


def test_a_decision_about_safety_is_a_check_whose_acknowledgement_goes_back() -> None:
    call = {"computer.left_click": {"coordinate": [5, 5]}}
    step = {"calls": [call], "checks": ["purchase"]}

    async def scenario() -> None:
        async with playing(step, {"say": "Bought."}) as s:
            first = await s.ask()
            (click,) = calls_of(first)
            message = "The page may give instructions, says the script."
            check = SafetyCheck("", "require_confirmation", message)
            assert click.checks == (check,)
            assert "safety_decision" not in click.arguments
            with pytest.raises(ModelRefused, match="needs safety_acknowledgement"):
                await s.ask(user("Go."), *answered(first))
            second = await s.ask(user("Go."), *answered(first, acknowledged=True))
            assert Text("Bought.") in second.content

    run(scenario)


def test_cached_tokens_are_counted_apart() -> None:
    async def scenario() -> None:
        async with playing(CALLING, {"say": "Seen."}) as s:
            first = await s.ask(user("Go. " * 2000))
            assert first.usage.cache_read_tokens == 0
            second = await s.ask(user("Go. " * 2000), *answered(first))
            assert second.usage.cache_read_tokens >= 2000
            assert 0 < second.usage.input_tokens < 200
            assert second.usage.cache_write_tokens == 0

    run(scenario)


@contextmanager
def left_open() -> Iterator[list[str]]:
    """Yield the names of generators that nobody closed before they were collected."""
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


@pytest.mark.parametrize(
    ("reason", "stop_reason"),
    [("refusal", "refusal"), ("max_tokens", "max_tokens"), ("pause_turn", "pause_turn")],
)
def test_reasons_for_the_end_are_handed_on(reason: str, stop_reason: str) -> None:
    async def scenario() -> None:
        async with playing({"say": "No.", "stop_reason": reason}) as s:
            assert (await s.ask()).stop_reason == stop_reason

    run(scenario)


@pytest.mark.parametrize(
    ("reason", "message"),
    [
        ("blocked", "the provider blocked the prompt: PROHIBITED_CONTENT"),
        ("missing_thought_signature", "the request lacks a thought signature"),
    ],
)
def test_what_the_provider_does_not_answer_is_refused_at_once(reason: str, message: str) -> None:
    async def scenario() -> None:
        async with playing({"say": "No.", "stop_reason": reason}) as s:
            with pytest.raises(ModelRefused, match=message):
                await s.ask()
            assert s.pauses == []

    run(scenario)


def test_a_wrong_key_model_or_request_is_refused_at_once() -> None:
    async def scenario() -> None:
        async with playing({"say": "x"}) as s:
            client = s.client(api_key="wrong")
            with pytest.raises(KeyRefused, match=r"Google refused GEMINI_API_KEY \(400\): set a"):
                await s.ask(client=client)
            await client.close()
            with pytest.raises(ModelRefused, match="Check the model's name"):
                await s.ask(model="no-such")
            open_call = Message("assistant", (ToolCall("a", "execute", {}),))
            with pytest.raises(ModelRefused, match="the last must be of the user"):
                await s.ask(user("Go."), open_call)
            assert s.pauses == []

    run(scenario)


@pytest.mark.parametrize(
    ("model", "old"),
    [
        ("gemini-3.5-flash", False),
        ("gemini-4-argon", False),
        ("gemini-2.5-computer-use-preview-10-2025", True),
        ("gemini-3-flash-preview", True),
    ],
)
def test_the_model_table_knows_which_functions_a_model_has(model: str, old: bool) -> None:
    assert (model_facts(model).computer == OLD_TOOL) == old


ACCOUNT = ModelAccount(PROVIDER, "key", None, "GEMINI_API_KEY")
FACTS = model_facts("gemini-3.5-flash")


@pytest.mark.parametrize(
    ("status", "text", "kind"),
    [
        (401, "no", KeyRefused),
        (400, "API key expired. Please renew.", KeyRefused),
        (402, "pay", NoCredit),
        (403, "billing is not enabled for this project", NoCredit),
        (400, "The input token count (9) exceeds the maximum number of tokens (5).", LimitReached),
        (400, "Request payload size exceeds the limit: 20971520 bytes.", LimitReached),
        (413, "too large", LimitReached),
        (403, "no right", ModelRefused),
        (503, "busy", AttemptFailed),
        (500, "broken", AttemptFailed),
    ],
)
def test_refusals_are_told_apart(status: int, text: str, kind: type[Exception]) -> None:
    assert type(_classified(status, text, {}, FACTS, ACCOUNT)) is kind


def test_a_pause_that_the_provider_asks_for_is_kept() -> None:
    details = {"error": {"details": [{"@type": "RetryInfo", "retryDelay": "34s"}]}}
    failure = _classified(429, "slow down", details, FACTS, ACCOUNT)
    assert isinstance(failure, AttemptFailed)
    assert (failure.overloaded, failure.retry_after) == (True, 34.0)
    assert not isinstance(failure, ModelUnavailable)
