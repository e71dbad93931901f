"""Runs with a checkpoint through the real clients of OpenAI and Gemini.

OpenAI compacts the conversation itself; for Gemini the model is asked for a summary.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from deskhand.tools.agents.loop.turn import LoopSettings, run_turn
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

STEPS = 45


@pytest.mark.parametrize(
    ("make", "path", "model"),
    [(OpenAiModel, "/v1", "gpt-6.2-sol"), (GeminiModel, "", "gemini-3.5-flash")],
)
def test_a_run_goes_on_after_a_checkpoint(make: Callable[..., Any], path: str, model: str) -> None:
    click = {"computer.left_click": {"coordinate": [3, 4]}}
    played = [{"think": f"Step {n}.", "calls": [click]} for n in range(STEPS)]
    script = read_script(model, {"steps": [*played, {"say": "Done."}]})
    shots = {
        f"f{n}": encoded(screen(((n * 20, 0, n * 20 + 10, 10), (255, 0, 0)), size=(160, 90)))
        for n in range(7)
    }

    async def scenario() -> None:
        async with ScriptedModelServer([script]) as server:
            account = make(
                MemoryPictures(**shots),
                api_key=server.api_key,
                base_url=server.url + path,
                retry_policy=RetryPolicy(attempts=1),
            )
            transcript = MemoryTranscript(user("Go."))
            settings = LoopSettings(model, "Be good.")
            try:
                end = await run_turn(transcript, account, ToolboxOf(shot), settings, lambda: 0.0)
            finally:
                await account.close()
            assert (end.error, end.report, end.steps) == (None, "Done.", STEPS)
            assert [entry.status for entry in server.log] == [200] * (STEPS + 2)
            assert transcript.begun == ["40 pictures"]
            assert len(server.log[-1].pictures) < 10

    asyncio.run(scenario())
