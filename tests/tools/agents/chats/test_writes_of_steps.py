"""How often a turn writes to the database."""

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from deskhand.tools.agents.driving.driver import Driver
from deskhand.tools.conversation.conversation import ToolCall
from tests.tools.agents.chats.fakes import Block, ScriptedModel, act, call, open_chats, report

STEPS = 20
MOST = 2.5
"""Transactions for a step."""


def click(step: int) -> ToolCall:
    return act("left_click", coordinate=[step, 2])


def echo(step: int) -> ToolCall:
    return call("echo", text=f"Go on {step}")


@pytest.mark.parametrize("fenced", [False, True])
@pytest.mark.parametrize("made", [(click,), (echo,), (click, click), (echo, echo)])
def test_a_step_needs_few_transactions(
    tmp_path: Path, made: tuple[Callable[[int], ToolCall], ...], fenced: bool
) -> None:
    drive = partial(Driver, plane="one", address="") if fenced else None

    async def turn(steps: int) -> int:
        replies: list[list[Block]] = [[make(step) for make in made] for step in range(steps)]
        model = ScriptedModel([*replies, [report("Done")]])
        async with open_chats(tmp_path, {"child": model}, drive=drive) as p:
            before = p.store.commits
            chat = await p.chats.create(prompt="Go", mode="computer_use")
            await p.until(chat.id, "waiting")
            assert (await p.chats.get(chat.id)).step_count == steps * len(made)
            return p.store.commits - before

    async def scenario() -> None:
        few, many = await turn(2), await turn(2 + STEPS)
        assert (many - few) / (STEPS * len(made)) <= MOST

    asyncio.run(scenario())
