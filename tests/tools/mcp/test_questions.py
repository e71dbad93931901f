"""Questions of real chats, asked and answered by a host through the SDK's own client."""

import asyncio
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client

from deskhand.desktop.mcp.calls.seen_screens import SeenScreens
from deskhand.desktop.mcp.ports import McpCaller
from deskhand.desktop.mcp.selection import ToolSelection
from deskhand.desktop.mcp.server import McpServer
from deskhand.tools.agents.chats.chats import Chats
from deskhand.tools.mcp.plane_calls import PlaneCalls
from tests.tools.agents.chats.fakes import ScriptedModel, call, open_chats, report

HERE = "http://here"


def server(chats: Chats, caller: str) -> McpServer:
    """A server for one chat."""

    async def owned(kind: str, name: str) -> frozenset[str]:
        return frozenset({name, caller})

    async def default() -> str:
        return caller

    calls = PlaneCalls(
        *(chats, owned, HERE, SeenScreens()),
        selection=ToolSelection(),
        key="me",
        named=None,
        bound=(),
        default=default,
    )
    return McpServer(lambda _: McpCaller("me", calls), "1.0")


def asking_model() -> ScriptedModel:
    return ScriptedModel([[call("request_human", reason="Which door?")], [report("Opened")]])


@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_a_host_that_can_ask_answers_the_agent(tmp_path: Path, era: str) -> None:
    asked: list[str] = []

    async def ask(context: Any, params: Any) -> types.ElicitResult:
        asked.append(params.message)
        return types.ElicitResult(action="accept", content={"answer": "The left one"})

    async def scenario() -> None:
        async with open_chats(tmp_path, {"child": asking_model()}) as p:
            served = server(p.chats, await p.caller())
            async with Client(served.in_process, mode=era, elicitation_callback=ask) as client:
                arguments = {"prompt": "Open it"}
                spawned = await client.call_tool("spawn_computer_use_agent", arguments)
                chat_id = spawned.structured_content["chat_id"]
                found = await client.call_tool("wait_agent", {"chat_id": chat_id})
            assert asked == ["Which door?"]
            assert found.structured_content["report"] == "Opened"
            step = (await p.chats.steps(chat_id))[0]
            assert (step.tool, step.status) == ("request_human", "done")

    asyncio.run(scenario())


@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_another_host_gets_the_question_and_the_page(tmp_path: Path, era: str) -> None:
    async def scenario() -> None:
        async with open_chats(tmp_path, {"child": asking_model()}) as p:
            served = server(p.chats, await p.caller())
            async with Client(served.in_process, mode=era) as client:
                arguments = {"prompt": "Open it"}
                spawned = await client.call_tool("spawn_computer_use_agent", arguments)
                chat_id = spawned.structured_content["chat_id"]
                found = await client.call_tool("wait_agent", {"chat_id": chat_id})
                content = found.structured_content
                assert content["requires_action"]["question"] == "Which door?"
                assert content["run_url"] == f"{HERE}/runs/{chat_id}"
                await p.chats.answer(chat_id, "The left one")
                ended = await client.call_tool("wait_agent", {"chat_id": chat_id})
            assert ended.structured_content["report"] == "Opened"

    asyncio.run(scenario())
