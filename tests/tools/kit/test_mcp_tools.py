"""The tools of MCP servers, over a fake machine."""

import asyncio
from collections.abc import Collection
from typing import Any

import pytest

from deskhand.tools.conversation.conversation import Image
from deskhand.tools.kit.mcp_tools import (
    ApproveMcpServerTool,
    CallMcpToolTool,
    ListMcpToolsTool,
    UnusablePicture,
    WaitingServer,
    mcp_tools,
)
from deskhand.tools.kit.support.spec import Json, MachineRefused, Tool, ToolContext, ToolOutcome
from tests.tools.kit.machine import FakeMachine

TOOL = {"server_name": "a", "name": "a__echo", "description": "", "schema": {}, "required": []}
WAITS: Json = {
    "tools": [],
    "servers": [{"name": "a", "state": "needs_approval", "error": "e", "digest": "1",
                 "transport": "stdio", "summary": "notes (K=…)"}],
}  # fmt: skip
READY: Json = {
    "tools": [TOOL],
    "servers": [{**WAITS["servers"][0], "state": "connected", "error": ""}],
}


class FakeApprovals:
    def __init__(self, *approved: str, says: bool = True) -> None:
        self._approved = frozenset(approved)
        self._says = says
        self.asked: list[WaitingServer] = []

    async def approved(self, chat_id: str, digests: Collection[str]) -> frozenset[str]:
        return self._approved & frozenset(digests)

    async def ask(self, context: ToolContext, server: WaitingServer) -> bool:
        self.asked.append(server)
        return self._says


def machine(*listings: Any) -> FakeMachine:
    made = FakeMachine()
    made.answer("/api/v0/mcp/tools", *listings)
    made.answer("/api/v0/mcp-approvals", {"approved": 1})
    return made


def call(tool: Tool, arguments: Json, made: FakeMachine) -> ToolOutcome:
    return asyncio.run(tool.call(arguments, made.context()))


def test_tools_are_listed_with_the_states_of_servers() -> None:
    outcome = call(ListMcpToolsTool(FakeApprovals()), {"refresh": True}, made := machine(WAITS))
    states = [{"name": "a", "state": "needs_approval", "error": "e"}]
    assert outcome.value == {"tools": [], "servers": states}
    assert made.asked[0].params == {"refresh": "true"}
    assert len(made.asked) == 1


def test_a_desktop_learns_stored_approvals() -> None:
    outcome = call(ListMcpToolsTool(FakeApprovals("1")), {}, made := machine(WAITS, READY))
    assert outcome.value == {"tools": [TOOL], "servers": [{"name": "a", "state": "connected"}]}
    assert made.to("/mcp-approvals")[0].json == {"digests": ["1"]}


def test_a_refused_approval_changes_nothing() -> None:
    made = machine(WAITS)
    made.answer("/api/v0/mcp-approvals", MachineRefused(404, "Not Found"))
    assert call(ListMcpToolsTool(FakeApprovals("1")), {}, made).value["tools"] == []


def test_a_call_returns_text_and_names_other_blocks() -> None:
    made = machine(READY)
    blocks = [
        {"type": "text", "text": "one", "media_type": "", "data": ""},
        {"type": "image", "text": "", "media_type": "image/png", "data": "AAAA"},
    ]
    made.answer("/api/v0/mcp/call-tool", {"content": blocks, "is_error": False})
    given: Json = {"tool_name": " a__echo ", "arguments": {"x": 1}}
    outcome = call(CallMcpToolTool(FakeApprovals()), given, made)
    assert outcome.value == {"output": "one\n[image of type image/png, not shown]"}
    assert made.to("/call-tool")[0].json == {"tool_name": "a__echo", "arguments": {"x": 1}}


class FakePictures:
    async def keep(self, chat_id: str, data: bytes) -> Image:
        if data == b"bad":
            raise UnusablePicture("it is no picture")
        return Image(f"file of {chat_id}", "image/png", 4, 3)


@pytest.mark.parametrize(
    ("data", "output"),
    [
        (["YQ==", "YmFk"], "[picture of 4x3]\n[a picture is not shown: at most 1 in a result]"),
        (["YmFk", "YQ=="], "[a picture is not shown: it is no picture]\n[picture of 4x3]"),
        (["ä"], "[a picture is not shown: its data are not base64]"),
    ],
)  # fmt: skip
def test_a_call_returns_one_picture(data: list[str], output: str) -> None:
    made = machine(READY)
    blocks = [{"type": "image", "text": "", "media_type": "x", "data": one} for one in data]
    made.answer("/api/v0/mcp/call-tool", {"content": blocks, "is_error": False})
    tool = CallMcpToolTool(FakeApprovals(), FakePictures())
    outcome = call(tool, {"tool_name": "a__echo"}, made)
    assert outcome.value["output"] == output
    ids = [one.file_id for one in outcome.pictures]
    assert outcome.value.get("pictures", []) == ids
    assert len(ids) == ("[picture of" in output)


@pytest.mark.parametrize(("content", "error"), [([], "the tool failed"), (["no"], "no")])
def test_an_error_of_a_tool_is_an_error(content: list[str], error: str) -> None:
    made = machine(READY)
    blocks = [{"type": "text", "text": text, "media_type": ""} for text in content]
    made.answer("/api/v0/mcp/call-tool", {"content": blocks, "is_error": True})
    assert call(CallMcpToolTool(FakeApprovals()), {"tool_name": "a__b"}, made).error == error


@pytest.mark.parametrize("arguments", [{}, {"tool_name": "a__b", "arguments": [1]}])
def test_wrong_arguments_of_a_call_are_refused(arguments: Json) -> None:
    made = machine(READY)
    assert call(CallMcpToolTool(FakeApprovals()), arguments, made).is_error
    assert made.asked == []


def test_a_person_is_asked_with_the_definition() -> None:
    approvals = FakeApprovals()
    made = machine(WAITS)
    outcome = call(ApproveMcpServerTool(approvals), {"server": "a"}, made)
    assert outcome.value == {"approved": "a"}
    (server,) = approvals.asked
    assert server.question == ("May this MCP server run on the desktop? a: notes (K=…) (yes or no)")


def test_a_person_may_refuse() -> None:
    tool = ApproveMcpServerTool(FakeApprovals(says=False))
    error = "the person did not approve the server 'a'"
    assert call(tool, {"server": "a"}, machine(WAITS)).error == error


def test_nothing_is_asked_for_a_server_that_does_not_wait() -> None:
    approvals = FakeApprovals()
    outcome = call(ApproveMcpServerTool(approvals), {"server": "a"}, machine(READY))
    assert outcome.error == "no server 'a' waits for an approval"
    assert call(ApproveMcpServerTool(approvals), {}, machine(WAITS)).is_error
    assert approvals.asked == []


def test_a_desktop_that_refuses_is_reported() -> None:
    refused = MachineRefused(409, "Ann is in control.")
    for tool in (*mcp_tools(FakeApprovals()), ApproveMcpServerTool(FakeApprovals())):
        given = {"tool_name": "a__b", "server": "a"}
        arguments = {name: given[name] for name in tool.spec.schema.get("required", ())}
        assert call(tool, arguments, machine(refused)).error == "Ann is in control."
        assert tool.spec.schema["type"] == "object"
