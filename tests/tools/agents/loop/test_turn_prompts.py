import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from deskhand.tools.agents.checkpoints.own_summary import SUMMARY_REQUEST
from deskhand.tools.agents.checkpoints.policy import PAUSE
from deskhand.tools.agents.loop.turn_prompts import AFTER_SUMMARY, TurnPrompts
from deskhand.tools.agents.providers.errors import (
    CannotCompact,
    LimitReached,
    ModelError,
    ModelUnavailable,
    NoSummary,
)
from deskhand.tools.agents.providers.model_table import model_facts
from deskhand.tools.agents.providers.port import Compacted, ModelReply, Prompt, Usage
from deskhand.tools.conversation.conversation import (
    Block,
    Compaction,
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from deskhand.tools.conversation.message_pictures import picture_count
from deskhand.tools.kit.support.spec import ToolSpec
from tests.tools.agents.loop.fakes import MemoryTranscript, ModelOf, ToolboxOf, reply, user

OPUS = model_facts("claude-opus-5-5")
OWN = replace(OPUS, compaction=None)
SPENT = Usage(1, 2, 3, 4)
FIRST = Prompt("Be good.", (), (), True, "claude-opus-5-5")


class Compactor(ModelOf):
    """Also summarizes; an error in place of a summary is raised."""

    def __init__(self, *summaries: str | ModelError, replies: tuple[ModelReply, ...] = ()) -> None:
        super().__init__(*replies)
        self.summaries = list(summaries)
        self.compacted: list[Prompt] = []

    async def compact(self, prompt: Prompt) -> Compacted:
        self.compacted.append(prompt)
        summary = self.summaries.pop(0)
        if isinstance(summary, ModelError):
            raise summary
        blocks = (Compaction({"type": "compaction", "content": summary}),) if summary else ()
        return Compacted(blocks, SPENT, summary)


def step(number: int) -> tuple[Message, Message]:
    call = ToolCall(f"c{number}", "left_click", {"coordinate": [1, 2]}, "computer")
    shot = Image(f"f{number}", "image/png", 1280, 720)
    thought = Thinking({"type": "thinking", "thinking": f"t{number}", "signature": "s"})
    return (
        Message("assistant", (thought, call)),
        Message("user", (ToolResult(call.id, (Text("ok"), shot), toolset="computer"),)),
    )


def steps(count: int, first: int = 0) -> list[Message]:
    return [message for number in range(first, first + count) for message in step(number)]


def blocks(prompt: Prompt) -> list[Block]:
    return [block for message in prompt.messages for block in message.content]


def pictures(prompt: Prompt) -> int:
    return sum(map(picture_count, prompt.messages))


def run(
    model: ModelOf,
    transcript: MemoryTranscript,
    work: Callable[[TurnPrompts], Awaitable[Any]],
    toolbox: ToolboxOf | None = None,
    **options: Any,
) -> Any:
    facts = options.pop("facts", OPUS)

    async def scenario() -> Any:
        prompts = TurnPrompts(
            transcript, model, toolbox or ToolboxOf(), facts, FIRST, None, **options
        )
        return await work(prompts)

    return asyncio.run(scenario())


async def following(prompts: TurnPrompts) -> Prompt:
    return await prompts.next()


def test_the_provider_summarizes_what_an_earlier_request_contained() -> None:
    transcript, model = MemoryTranscript(user("Go."), *steps(40)), Compactor("All of it.")

    async def work(prompts: TurnPrompts) -> tuple[Prompt, Usage]:
        return await prompts.next(), prompts.usage

    prompt, usage = run(model, transcript, work)
    (compacted,) = model.compacted
    assert compacted.messages == (user("Go."), *steps(37))
    first = prompt.messages[0]
    assert first.content[0] == Compaction({"type": "compaction", "content": "All of it."})
    assert first.content[1:] == step(37)[0].content
    assert prompt.messages[1:] == tuple(steps(3, 37))[1:]
    assert (transcript.begun, transcript.ended) == (["40 pictures"], ["All of it."])
    assert replace(usage, cost_usd=0.0) == SPENT
    assert usage.cost_usd
    assert (compacted.tools, compacted.system) == (prompt.tools, prompt.system)


def test_a_later_checkpoint_summarizes_the_earlier_one_too() -> None:
    transcript, model = MemoryTranscript(user("Go."), *steps(40)), Compactor("One.", "Two.")

    async def work(prompts: TurnPrompts) -> Prompt:
        await prompts.next()
        transcript.kept += steps(36, 40)
        before = await prompts.next()
        assert pictures(before) == 39
        transcript.kept += steps(1, 76)
        return await prompts.next()

    prompt = run(model, transcript, work)
    assert [pictures(one) for one in (*model.compacted, prompt)] == [37, 37, 3]
    assert blocks(model.compacted[1])[0] == Compaction({"type": "compaction", "content": "One."})
    assert blocks(prompt)[0] == Compaction({"type": "compaction", "content": "Two."})


@pytest.mark.parametrize("failure", ["", ModelUnavailable("no network", 3), NoSummary("x")])
def test_without_a_summary_the_turn_goes_on_with_its_history(failure: str | ModelError) -> None:
    transcript, model = MemoryTranscript(user("Go."), *steps(40)), Compactor(failure, "Later.")

    async def work(prompts: TurnPrompts) -> list[int]:
        return [pictures(await prompts.next()) for _ in range(PAUSE + 1)]

    shown = run(model, transcript, work)
    assert shown == [40] * PAUSE + [3]
    assert transcript.ended == ["no summary of the conversation: it is empty"] * (not failure) + [
        str(failure)
    ] * bool(failure) + ["Later."]
    assert len(transcript.checkpoints) == 1


def test_a_summary_that_takes_too_long_is_given_up() -> None:
    transcript, model = MemoryTranscript(user("Go."), *steps(40)), ModelOf(asyncio.Event())
    prompt = run(model, transcript, following, facts=OWN, summary_seconds=0.0)
    assert pictures(prompt) == 40
    assert transcript.ended == ["no summary of the conversation: none within 0 s"]


@pytest.mark.parametrize("facts", [OWN, OPUS])
def test_our_own_summary_keeps_three_pictures_and_ten_steps(facts: Any) -> None:
    transcript = MemoryTranscript(user("Go."), *steps(40))
    model = Compactor(CannotCompact(), replies=(reply(Text("All."), usage=SPENT),))
    prompt = run(model, transcript, following, facts=facts)
    (asked,) = model.prompts
    assert asked.messages[:-1] == (user("Go."), *steps(40)[:-1])
    assert blocks(asked)[-1] == Text(SUMMARY_REQUEST)
    assert "All." in str(prompt.messages[0])
    kept = [b for b in blocks(prompt) if isinstance(b, ToolCall)]
    assert [call.id for call in kept] == [f"c{n}" for n in range(30, 40)]
    assert not any(isinstance(b, Thinking) for b in blocks(prompt))
    assert pictures(prompt) == 3
    assert transcript.ended == ["All."]


def test_our_own_summary_must_not_be_empty() -> None:
    transcript, model = MemoryTranscript(user("Go."), *steps(40)), ModelOf(reply(Text(" ")))
    prompt = run(model, transcript, following, facts=OWN)
    assert pictures(prompt) == 40
    assert transcript.ended == ["no summary of the conversation: it is empty"]


def test_other_tools_take_effect_at_the_checkpoint() -> None:
    transcript, model = MemoryTranscript(user("Go."), *steps(39)), Compactor("All.")
    toolbox = ToolboxOf()
    toolbox.current_specs = (ToolSpec("other", "New.", {"type": "object"}),)

    async def work(prompts: TurnPrompts) -> tuple[list[list[str]], Prompt]:
        before = await prompts.next()
        transcript.kept += steps(1, 39)
        after = await prompts.next()
        transcript.kept += steps(1, 40)
        later = await prompts.next()
        return [[tool.name for tool in one.tools] for one in (before, after, later)], after

    offered, after = run(model, transcript, work, toolbox)
    assert offered == [["execute", "report"], ["other", "report"], ["other", "report"]]
    assert [tool.name for tool in model.compacted[0].tools] == ["execute", "report"]
    # The thinking blocks were made with other tools.
    assert not any(isinstance(b, Thinking) for b in blocks(after))


def test_without_the_report_tool_none_is_offered() -> None:
    prompt = run(ModelOf(), MemoryTranscript(user("Go.")), following, report=False)
    assert [tool.name for tool in prompt.tools] == ["execute"]


def test_a_reply_with_very_many_pictures_is_summarized_as_a_whole() -> None:
    calls = tuple(ToolCall(f"s{n}", "screenshot", {}, "computer") for n in range(45))
    shot = Image("f", "image/png", 1280, 720)
    results = tuple(ToolResult(call.id, (shot,), toolset="computer") for call in calls)
    transcript = MemoryTranscript(
        user("Go."), *steps(2), Message("assistant", calls), Message("user", results)
    )
    model = Compactor("All.")
    prompt = run(model, transcript, following)
    assert pictures(model.compacted[0]) == 47
    assert [message.role for message in prompt.messages] == ["assistant", "user"]
    assert blocks(prompt)[-1] == Text(AFTER_SUMMARY)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (replace(reply(), usage=Usage(1, 699_999)), "700,000 of 1,000,000 tokens"),
        (replace(reply(), request_bytes=21 * 2**20), "a request of 21 MB"),
    ],
)
def test_the_size_of_the_newest_request_counts(answer: ModelReply, reason: str) -> None:
    transcript, model = MemoryTranscript(user("Go."), *steps(9)), Compactor("All.")

    async def work(prompts: TurnPrompts) -> int:
        await prompts.next()
        prompts.answered(answer)
        await prompts.next()
        return pictures(await prompts.next())

    assert run(model, transcript, work) == 3
    assert transcript.begun == [reason]


def test_after_a_limit_each_further_attempt_keeps_less() -> None:
    transcript = MemoryTranscript(user("Go."), *steps(20))
    limit = LimitReached("pictures per request", 2)

    async def work(prompts: TurnPrompts) -> list[int]:
        shown = []
        for _ in range(3):
            await prompts.shorten(limit)
            shown.append(len(blocks(await prompts.next())))
        with pytest.raises(LimitReached):
            await prompts.shorten(limit)
        return shown

    first, second, third = run(ModelOf(), transcript, work, facts=OWN)
    assert first > second > third
    assert len(transcript.checkpoints) == 3
    assert "Called left_click" in transcript.ended[0]
