import asyncio

import pytest

from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.mcp.errors import McpError
from deskhand.desktop.mcp.selection import ToolSelection
from deskhand.desktop.mcp.tool import McpResult
from deskhand.tools.mcp.plane_tools import PLANE_TOOLS
from deskhand.tools.mcp.proxied_desktop import NamedDesktopCalls, proxied
from deskhand.tools.mcp.relay import ConnectedPlane
from tests.tools.mcp.fakes import CHAT, FakePlane, FakeSource, connected


def test_a_path_leads_through_the_control_plane() -> None:
    assert proxied("/api/v0/desktop/action", "d1") == "/api/v0/desktops/d1/desktop/action"


def test_the_named_desktop_is_used_and_agents_belong_to_the_chat() -> None:
    async def scenario() -> None:
        plane = FakePlane()
        plane.calls.result = McpResult("listed", {})
        async with connected(plane) as source:
            calls = NamedDesktopCalls(source, "d1", ToolSelection())
            assert calls.tools() == PLANE_TOOLS
            assert "spawn_computer_use_agent" in calls.instructions
            found = await calls.call("process_list", {})
            assert found.text == "No process was started."
            assert plane.asked("processes/list") == [("d1", CHAT)]
            agents = await calls.call("list_agents", {})
            assert agents.is_error
            assert plane.calls.calls == [("list_agents", {})]
            await calls.answer("c1", "yes")
            assert plane.asked("answer") == ['{"answer":"yes"}']
            (screen,) = await calls.resources()
            assert screen["name"] == "screenshot"
            with pytest.raises(McpError, match="no recording r1"):
                await calls.read("deskhand://recordings/r1")

    asyncio.run(scenario())


def test_a_control_plane_that_has_gone_is_checked() -> None:
    async def scenario() -> None:
        async with DesktopClient("http://127.0.0.1:1", "") as client:
            source = FakeSource(ConnectedPlane(client, CHAT))
            calls = NamedDesktopCalls(source, "d1", ToolSelection())
            assert "cannot be reached" in (await calls.call("process_list", {})).text
            assert source.checks == 1

    asyncio.run(scenario())
