import asyncio
from collections.abc import Awaitable, Callable

import pytest

from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.errors import DesktopRefused
from deskhand.desktop.mcp.errors import McpError, UnknownMcpTool
from deskhand.desktop.mcp.selection import ToolSelection
from deskhand.desktop.mcp.tool import McpImage, McpQuestion, McpResult
from deskhand.tools.mcp.plane_tools import PLANE_TOOLS
from deskhand.tools.mcp.relay import ConnectedPlane, RelayedCalls, rpc_result
from tests.tools.mcp.fakes import CHAT, FakePlane, FakeSource, connected


def run(
    scenario: Callable[[RelayedCalls, FakePlane], Awaitable[None]],
    selection: ToolSelection | None = None,
) -> None:
    async def inside() -> None:
        plane = FakePlane()
        async with connected(plane) as source:
            await scenario(RelayedCalls(source, selection or ToolSelection()), plane)

    asyncio.run(inside())


def test_a_call_and_its_result_pass_unchanged() -> None:
    async def scenario(calls: RelayedCalls, plane: FakePlane) -> None:
        result = McpResult("Seen.", {"frame_id": "f"}, McpImage(b"png", "image/png"))
        plane.calls.result = result
        assert await calls.call("computer_look", {"region": [0, 0, 1, 1]}) == result
        assert plane.calls.calls == [("computer_look", {"region": [0, 0, 1, 1]})]
        plane.calls.result = McpResult("It failed.", {}, is_error=True)
        assert await calls.call("read_file", {}) == plane.calls.result

    run(scenario)


def test_the_options_of_the_process_go_with_each_call() -> None:
    async def scenario(calls: RelayedCalls, plane: FakePlane) -> None:
        await calls.call("read_file", {})
        query = {"tools": "computer,files", "pictures": "off", "read_only": "1"}
        assert plane.asked("tools/call") == [query]

    chosen = ToolSelection(("computer", "files", "record"), read_only=True, pictures="off")
    run(scenario, chosen)


def test_the_list_of_tools_needs_no_control_plane() -> None:
    source = FakeSource(ConnectedPlane(DesktopClient("http://127.0.0.1:1", ""), CHAT))
    calls = RelayedCalls(source, ToolSelection())
    assert calls.tools() == PLANE_TOOLS
    assert "computer_look" in calls.instructions
    with pytest.raises(UnknownMcpTool):
        asyncio.run(calls.call("nonsense", {}))


def test_a_question_comes_as_a_result_and_is_answered_by_a_request() -> None:
    async def scenario(calls: RelayedCalls, plane: FakePlane) -> None:
        asks = {"chat_id": "c1", "requires_action": {"question": "Who?"}}
        plane.calls.result = McpResult("It waits.", asks)
        found = await calls.call("read_file", {})
        assert found.question == McpQuestion("c1", "Who?")
        await calls.answer("c1", "Ann")
        assert plane.asked("answer") == ['{"answer":"Ann"}']
        with pytest.raises(McpError):
            await calls.answer("missing", "Ann")

    run(scenario)


def test_resources_are_those_of_the_control_plane() -> None:
    async def scenario(calls: RelayedCalls, plane: FakePlane) -> None:
        (one,) = await calls.resources()
        assert one["uri"] == "deskhand://desktop/screenshot"
        found = await calls.read("deskhand://desktop/screenshot")
        assert found == {"mimeType": "text/plain", "text": "steps"}
        with pytest.raises(McpError, match="no such resource"):
            await calls.read("deskhand://recordings/r1")
        with pytest.raises(McpError, match="there is no resource"):
            await calls.read("file:///etc/passwd")

    run(scenario)


def test_a_cancelled_call_ends_its_wait_in_the_control_plane() -> None:
    async def scenario(calls: RelayedCalls, plane: FakePlane) -> None:
        call = asyncio.create_task(calls.call("execute", {"command": "make"}))
        await plane.calls.begun.get()
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        await plane.calls.cancelled.wait()

    run(scenario)


def test_a_control_plane_that_has_gone_is_forgotten() -> None:
    async def scenario() -> None:
        async with DesktopClient("http://127.0.0.1:1", "") as client:
            source = FakeSource(ConnectedPlane(client, CHAT))
            calls = RelayedCalls(source, ToolSelection())
            found = await calls.call("process_list", {})
            assert found.is_error
            assert "cannot be reached" in found.text
            with pytest.raises(McpError, match="cannot be reached"):
                await calls.resources()
            assert source.checks == 2

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("status", "body", "error", "text"),
    [
        (200, b'{"error": {"message": "Unknown tool"}}', McpError, "Unknown tool"),
        (401, b'{"message": "Wrong credential."}', DesktopRefused, "Wrong credential."),
        (502, b"<html>", DesktopRefused, "status 502"),
    ],
)
def test_answers_without_a_result_are_errors(
    status: int, body: bytes, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        rpc_result(status, body)
