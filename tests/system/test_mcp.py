"""MCP over HTTP with the SDK's own client, on a real desktop."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.system.services import PATIENCE, Service, until
from tests.system.test_desktop_release import pressed_on

pytestmark = pytest.mark.x11

PRIVATE = {"action": "take", "name": "Ann", "private": True}


@asynccontextmanager
async def connected(desktop: Service, era: str = "auto", query: str = "") -> AsyncIterator[Client]:
    """A client of a desktop service."""
    headers = {"Authorization": f"Bearer {desktop.token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http:
        transport = streamable_http_client(f"{desktop.url}/mcp{query}", http_client=http)
        async with Client(transport, mode=era) as client:
            yield client


def run(desktop: Service, scenario: Callable[[Client], Awaitable[None]], era: str = "auto") -> None:
    async def inside() -> None:
        async with connected(desktop, era) as client:
            await scenario(client)

    asyncio.run(inside())


def text_of(result: types.CallToolResult) -> str:
    found = result.content[0]
    assert isinstance(found, types.TextContent)
    return found.text


@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_a_client_looks_acts_and_runs_commands(desktop: Service, era: str) -> None:
    async def scenario(client: Client) -> None:
        looked = await client.call_tool("computer_look", {})
        (image,) = looked.content[1:]
        assert isinstance(image, types.ImageContent)
        assert looked.structured_content["width"] == 1280
        wait = {"actions": [{"action": "wait", "duration": 0}]}
        # The clock of the panel may change between two calls, but not between all of them.
        rests = [await client.call_tool("computer_act", wait) for _ in range(3)]
        (rested, *_) = [one for one in rests if len(one.content) == 1]
        assert "No picture" in text_of(rested)
        # The pointer is drawn, so that a new position changes the picture.
        point = [640, 300 + len(era)]
        click = {"action": "left_click", "coordinate": point}
        acted = await client.call_tool("computer_act", {"actions": [click]})
        assert acted.structured_content["results"][0]["point"] == point
        assert isinstance(acted.content[1], types.ImageContent)
        ran = await client.call_tool("execute", {"command": "echo $((6*7))"})
        assert text_of(ran) == "Exit code 0.\n42\n"
        slow = await client.call_tool("execute", {"command": "sleep 60", "timeout": "0s"})
        assert slow.structured_content["timed_out"] is True

    run(desktop, scenario, era)


def test_a_point_outside_of_the_screen_is_refused_with_its_size(desktop: Service) -> None:
    async def scenario(client: Client) -> None:
        outside = {"action": "left_click", "coordinate": [99999, 5]}
        acted = await client.call_tool("computer_act", {"actions": [outside]})
        assert acted.is_error
        assert "(99999, 5) is outside of the screenshot, which is 1280x720." in text_of(acted)
        edge = {"action": "mouse_move", "coordinate": [1281, 5]}
        acted = await client.call_tool("computer_act", {"actions": [edge]})
        assert acted.structured_content["results"][0]["clamped"] is True

    run(desktop, scenario)


def test_a_person_in_control_is_respected(desktop: Service) -> None:
    async def scenario(client: Client) -> None:
        assert desktop.http.post("/api/v0/desktop/lease", json=PRIVATE).is_success
        acted = await client.call_tool("computer_act", {"actions": [{"action": "left_mouse_up"}]})
        assert acted.is_error
        assert text_of(acted).startswith("human_in_control: Ann is in control")
        looked = await client.call_tool("computer_look", {})
        assert (looked.is_error, len(looked.content)) == (True, 1)

    run(desktop, scenario)


def test_calls_are_steps_of_a_recording_without_secrets(desktop: Service) -> None:
    async def scenario(client: Client) -> None:
        desktop.post("/api/v0/desktop/secrets", {"values": ["hunter2hunter2"]})
        started = await client.call_tool("recording", {"action": "start", "label": "demo"})
        name = started.structured_content["recordings"][0]["id"]
        await client.call_tool("execute", {"command": "true hunter2hunter2"})
        click = {"action": "left_click", "coordinate": [5, 5]}
        await client.call_tool("computer_act", {"actions": [click]})
        await client.call_tool("recording", {"action": "stop"})
        steps = desktop.get(f"/api/v0/desktop/recordings/{name}")["steps"]
        assert {step["tool"] for step in steps} >= {"mcp.execute", "computer"}, steps
        assert "hunter2" not in str(steps)
        text = (await client.read_resource(f"deskhand://recordings/{name}")).contents[0]
        assert isinstance(text, types.TextResourceContents)
        assert "execute: true" in text.text

    run(desktop, scenario)


@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_a_cancelled_call_leaves_nothing_pressed(desktop: Service, era: str) -> None:
    pressed = pressed_on(desktop)

    async def scenario(client: Client) -> None:
        hold = {"action": "hold_key", "text": "ctrl+shift+a", "duration": 40}
        call = asyncio.create_task(client.call_tool("computer_act", {"actions": [hold]}))
        await asyncio.to_thread(until, pressed, "a pressed key")
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        await asyncio.to_thread(until, lambda: not pressed(), "the release of all keys")

    try:
        run(desktop, scenario, era)
    finally:
        pressed.close()


def test_only_a_credential_for_control_is_accepted(desktop: Service) -> None:
    anonymous: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    refused = httpx2.post(f"{desktop.url}/mcp", json=anonymous)
    assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
    instance = desktop.get("/api/v0/desktop")["instance_id"]
    body = {"name": "watcher", "scopes": [f"desktop:{instance}:view"]}
    token = desktop.post("/api/v0/tokens", body)["token"]
    headers = {"Authorization": f"Bearer {token}"}
    assert httpx2.post(f"{desktop.url}/mcp", json=anonymous, headers=headers).status_code == 403
