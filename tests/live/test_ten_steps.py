"""Ten steps against each real provider whose key is set; `make live` runs this, nothing else does.

It costs a few cents. The desktop is a picture that never changes.
"""

import asyncio
import importlib
import os

import pytest

from deskhand.tools.agents.loop.budget import TurnBudget
from deskhand.tools.agents.loop.turn import LoopSettings, TurnEnd, run_turn
from deskhand.tools.agents.providers.provider_table import ModelAccount, accounts_in
from deskhand.tools.conversation.conversation import Image, Text, ToolCall, ToolResult
from tests.tools.agents.loop.fakes import (
    MemoryPictures,
    MemoryTranscript,
    ToolboxOf,
    encoded,
    screen,
    user,
)

STEPS = 10
TASK = (
    "This is a test of a connection. Take screenshots with the computer tool, one in each reply,"
    f" until you have taken {STEPS}. Nothing on the screen changes. Then report that it is done."
)
ACCOUNTS = {
    name: account
    for name, account in accounts_in(os.environ).items()
    if account.provider.default_model
}

pytestmark = pytest.mark.live


def test_a_key_is_set() -> None:
    assert ACCOUNTS, "set the key of a provider, as ANTHROPIC_API_KEY"


@pytest.mark.parametrize("name", ACCOUNTS)
def test_ten_steps_lose_no_reasoning(name: str) -> None:
    end, called = asyncio.run(run_of(ACCOUNTS[name]))
    assert end.error_kind in (None, "budget"), end.error
    assert called >= STEPS - 1
    assert end.usage.dropped_thinking == 0
    assert end.usage.output_tokens > 0


async def run_of(account: ModelAccount) -> tuple[TurnEnd, int]:
    calls: list[ToolCall] = []

    async def answer(call: ToolCall) -> ToolResult:
        calls.append(call)
        shot = Image("f1", "image/png", 1280, 720)
        return ToolResult(call.id, (Text("Done."), shot), toolset=call.toolset)

    provider = account.provider
    module = importlib.import_module(f"deskhand.tools.agents.providers.{provider.name}.account")
    model = getattr(module, provider.adapter)(
        MemoryPictures(f1=encoded(screen(((100, 100, 300, 200), (0, 90, 200))))),
        api_key=account.api_key,
        base_url=account.base_url,
        variable=account.variable,
    )
    settings = LoopSettings(
        str(provider.default_model), "You control a desktop.", TurnBudget(steps=STEPS)
    )
    try:
        transcript = MemoryTranscript(user(TASK))
        end = await run_turn(transcript, model, ToolboxOf(answer), settings, lambda: 0.0)
    finally:
        await model.close()
    return end, len(calls)
