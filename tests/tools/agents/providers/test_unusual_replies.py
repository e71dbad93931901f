"""Replies that a provider should not give, through a whole turn: nothing may run twice."""

import asyncio
from typing import Any

import pytest

from deskhand.tools.agents.loop.turn import LoopSettings, TurnEnd, run_turn
from deskhand.tools.agents.scripted.script.script import read_script
from deskhand.tools.agents.scripted.server import ScriptedModelServer
from deskhand.tools.conversation.conversation import Text, ToolCall, ToolResult
from tests.tools.agents.loop.fakes import (
    MemoryPictures,
    MemoryTranscript,
    ToolboxOf,
    encoded,
    screen,
    user,
)

from .adapters import ADAPTERS, TestedAdapter

pytestmark = pytest.mark.parametrize("adapter", ADAPTERS, ids=str)
CLICK: dict[str, Any] = {"computer.left_click": {"coordinate": [3, 4]}}


def played(
    adapter: TestedAdapter, toolbox: ToolboxOf, *steps: dict[str, Any]
) -> tuple[TurnEnd, list[int]]:
    """Run a turn over a script; return its end and the statuses of the requests."""

    async def scenario() -> tuple[TurnEnd, list[int]]:
        script = read_script("test", {"steps": list(steps)})
        async with ScriptedModelServer([script]) as server:
            model = adapter.open(server, MemoryPictures(f1=encoded(screen())))
            settings = LoopSettings(adapter.model("test"), "Be good.", report=False)
            transcript = MemoryTranscript(user("Go."))
            try:
                end = await run_turn(transcript, model, toolbox, settings, lambda: 0.0)
            finally:
                await model.close()
            return end, [entry.status for entry in server.log]

    return asyncio.run(scenario())


def test_thirty_calls_of_one_reply_have_thirty_results(adapter: TestedAdapter) -> None:
    toolbox = ToolboxOf()
    end, statuses = played(adapter, toolbox, {"calls": [CLICK] * 30}, {"say": "Done."})
    assert (end.outcome, end.report, statuses) == ("done", "Done.", [200, 200])
    assert [call.name for call in toolbox.called] == ["left_click"] * 30


def test_no_two_calls_of_one_id_are_run(adapter: TestedAdapter) -> None:
    toolbox = ToolboxOf()
    step = {"calls": [CLICK, CLICK], "fault": {"kind": "same_id"}}
    end, statuses = played(adapter, toolbox, step, {"say": "Done."})
    assert (end.outcome, end.report, statuses) == ("done", "Done.", [200, 200])
    # The second is left out, or gets an id of its own where servers reuse ids.
    renames = adapter.provider.name in ("gemini", "compatible")
    ids = [call.id for call in toolbox.called]
    assert len(ids) == len(set(ids)) == (2 if renames else 1)


def test_a_tool_that_was_never_offered_is_answered(adapter: TestedAdapter) -> None:
    async def answer(call: ToolCall) -> ToolResult:
        return ToolResult(call.id, (Text(f"Tool not found: {call.name}"),), is_error=True)

    step = {"calls": [{"fly": {"to": "the moon"}}]}
    end, statuses = played(adapter, ToolboxOf(answer), step, {"say": "Done."})
    assert (end.outcome, end.report, statuses) == ("done", "Done.", [200, 200])
