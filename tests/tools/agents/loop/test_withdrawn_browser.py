"""The browser toolset is switched off during a run; the strict servers of the providers answer.

Anthropic refuses calls of a toolset that the request does not offer, so that a checkpoint that
withdraws it must keep none.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from deskhand.tools.agents.loop.turn import LoopSettings, run_turn
from deskhand.tools.agents.providers.anthropic.account import AnthropicModel
from deskhand.tools.agents.providers.attempts import RetryPolicy
from deskhand.tools.agents.providers.gemini.account import GeminiModel
from deskhand.tools.agents.providers.openai.account import OpenAiModel
from deskhand.tools.agents.scripted.script.script import read_script
from deskhand.tools.agents.scripted.server import ScriptedModelServer
from tests.tools.agents.loop.fakes import (
    MemoryPictures,
    MemoryTranscript,
    ToolboxOf,
    encoded,
    screen,
    user,
)
from tests.tools.agents.loop.test_bound_history import shot

SHOOT: dict[str, Any] = {"browser.screenshot": {}}
CLICK: dict[str, Any] = {"computer.left_click": {"coordinate": [3, 4]}}
SHOTS = {f"f{n}": encoded(screen(size=(160, 90), background=(n, 0, 0))) for n in range(7)}


@pytest.mark.parametrize("newest", [SHOOT, CLICK])
@pytest.mark.parametrize(
    ("make", "path", "model"),
    [
        (AnthropicModel, "", "claude-opus-5-5"),
        pytest.param(OpenAiModel, "/v1", "gpt-6.2-sol", marks=pytest.mark.soak),
        pytest.param(GeminiModel, "", "gemini-3.5-flash", marks=pytest.mark.soak),
    ],
)
def test_a_checkpoint_withdraws_the_browser_toolset(
    make: Callable[..., Any], path: str, model: str, newest: dict[str, Any]
) -> None:
    # The newest replies before the checkpoint are of one kind, the others of the other.
    other = CLICK if newest is SHOOT else SHOOT
    calls = [other] * 37 + [newest] * 3 + [CLICK] * 3
    played = [{"think": f"Step {n}.", "calls": [call]} for n, call in enumerate(calls)]
    script = read_script(model, {"steps": [*played, {"say": "Done."}]})

    async def scenario() -> None:
        async with ScriptedModelServer([script]) as server:
            account = make(
                MemoryPictures(**SHOTS),
                api_key=server.api_key,
                base_url=server.url + path,
                retry_policy=RetryPolicy(attempts=1),
            )
            transcript = MemoryTranscript(user("Go."))

            toolbox = ToolboxOf(shot, specs=("execute", "browser"))
            toolbox.current_specs = toolbox.specs[:1]
            settings = LoopSettings(model, "Be good.")
            try:
                end = await run_turn(transcript, account, toolbox, settings, lambda: 0.0)
            finally:
                await account.close()
            assert (end.error, end.report, end.steps) == (None, "Done.", len(calls))
            assert {entry.status for entry in server.log} == {200}
            assert [made.tools is not None for made in transcript.checkpoints] == [True]
            assert "browser" not in {one.name for one in transcript.checkpoints[0].tools or ()}

    asyncio.run(scenario())
