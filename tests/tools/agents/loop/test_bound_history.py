"""Runs against a server that binds thinking blocks to everything before them."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from deskhand.tools.agents.checkpoints.policy import MOST_PICTURES
from deskhand.tools.agents.loop.history import BATCH, KEPT_PICTURES
from deskhand.tools.agents.loop.turn import LoopSettings, TurnEnd, run_turn
from deskhand.tools.agents.providers.anthropic.account import AnthropicModel
from deskhand.tools.agents.providers.attempts import RetryPolicy
from deskhand.tools.agents.providers.errors import ModelRefused
from deskhand.tools.agents.providers.port import Prompt
from deskhand.tools.agents.scripted.script.script import read_script
from deskhand.tools.agents.scripted.server import ScriptedModelServer
from deskhand.tools.conversation.conversation import Image, Message, Text, ToolCall, ToolResult
from tests.tools.agents.loop.fakes import (
    MemoryPictures,
    MemoryTranscript,
    ToolboxOf,
    encoded,
    screen,
    user,
)

BOUND = "claude-opus-5-5"
"""Its thinking is bound to the prefix, so a script of this name is played with bound blocks."""


async def shot(call: ToolCall) -> ToolResult:
    content = (
        Text("Clicked."),
        Image(f"f{int(call.id.partition('s')[2].partition('t')[0]) % 7}", "image/png", 1280, 720),
    )
    return ToolResult(call.id, content, toolset=call.toolset)


def run_of(
    steps: int, name: str = BOUND, **model: Any
) -> tuple[TurnEnd, ScriptedModelServer, MemoryTranscript]:
    click = {"computer.left_click": {"coordinate": [3, 4]}}
    # The server binds the thinking of all models.
    word = "think" if name == BOUND else "say"
    played = [{word: f"Step {n}.", "calls": [click]} for n in range(steps)]
    script = read_script(name, {"steps": [*played, {"say": "Done."}]})
    shots = {
        f"f{n}": encoded(screen(((n * 20, 0, n * 20 + 10, 10), (255, 0, 0)), size=(160, 90)))
        for n in range(7)
    }

    async def scenario() -> tuple[TurnEnd, ScriptedModelServer, MemoryTranscript]:
        async with ScriptedModelServer([script]) as server:
            anthropic = AnthropicModel(
                MemoryPictures(**shots),
                api_key=server.api_key,
                base_url=server.url,
                retry_policy=RetryPolicy(attempts=1),
                **model,
            )
            settings = LoopSettings(name, "Be good.")
            transcript = MemoryTranscript(user("Go."))
            try:
                toolbox = ToolboxOf(shot)
                end = await run_turn(transcript, anthropic, toolbox, settings, lambda: 0.0)
            finally:
                await anthropic.close()
            return end, server, transcript

    return asyncio.run(scenario())


@pytest.mark.parametrize(
    ("steps", "drop_block", "checkpoints"),
    [(60, True, 1), pytest.param(300, False, 8, marks=pytest.mark.soak)],
)
def test_a_long_run_with_pictures_is_accepted(
    steps: int, drop_block: bool, checkpoints: int
) -> None:
    end, server, transcript = run_of(steps, drop_block=drop_block)
    assert (end.error, end.report, end.steps) == (None, "Done.", steps)
    assert [entry.status for entry in server.log] == [200] * (steps + 1 + checkpoints)
    assert max(len(entry.pictures) for entry in server.log) == MOST_PICTURES - 1
    assert transcript.begun == ["40 pictures"] * checkpoints
    assert len(transcript.checkpoints) == checkpoints
    assert end.usage.dropped_thinking == 0


def test_a_run_whose_thinking_is_not_bound_needs_no_checkpoint_for_its_pictures() -> None:
    end, server, transcript = run_of(60, "claude-opus-4-8")
    assert (end.error, end.steps, transcript.begun) == (None, 60, [])
    assert {entry.status for entry in server.log} == {200}
    assert max(len(entry.pictures) for entry in server.log) == BATCH + KEPT_PICTURES - 1


def test_a_block_of_another_conversation_is_dropped_and_counted_or_refused() -> None:
    script = read_script(BOUND, {"steps": [{"think": "Hm.", "say": "Yes."}]})

    async def scenario() -> None:
        async with ScriptedModelServer([script]) as server:
            for drop_block in (True, False):
                anthropic = AnthropicModel(
                    MemoryPictures(),
                    api_key=server.api_key,
                    base_url=server.url,
                    drop_block=drop_block,
                )
                first = Prompt("Be good.", (user("Go."),), (), False, BOUND)
                reply = await anthropic.reply(first, lambda _: None)
                assert reply.usage.dropped_thinking == 0
                other = (user("Go back."), Message("assistant", reply.content), user("And now?"))
                second = replace(first, messages=other)
                if drop_block:
                    again = await anthropic.reply(second, lambda _: None)
                    assert again.usage.dropped_thinking == 1
                else:
                    with pytest.raises(ModelRefused, match="bound to a different conversation"):
                        await anthropic.reply(second, lambda _: None)
                await anthropic.close()

    asyncio.run(scenario())
