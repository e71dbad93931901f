"""Routes of the tools of servers."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI

from deskhand.desktop.files.api import every_time
from deskhand.desktop.mcp_client.api import router
from deskhand.desktop.mcp_client.tool_servers import ToolServers
from tests.desktop.mcp_client.fakes import FakeConnector, MemoryFiles

Json = dict[str, Any]
CALL = "/api/v0/mcp/call-tool"
APPROVE = "/api/v0/mcp-approvals"


def run(scenario: Callable[[httpx2.AsyncClient, ToolServers], Awaitable[None]]) -> None:
    async def inside() -> None:
        files = MemoryFiles({"a": {"command": "one"}})
        async with ToolServers(files, FakeConnector()) as servers:
            app = FastAPI()
            app.include_router(router(servers, every_time, lambda: None))
            transport = httpx2.ASGITransport(app)
            async with httpx2.AsyncClient(transport=transport, base_url="http://d") as http:
                await scenario(http, servers)

    asyncio.run(inside())


def test_an_approved_server_is_listed_and_called() -> None:
    async def scenario(http: httpx2.AsyncClient, _: ToolServers) -> None:
        listed = (await http.get("/api/v0/mcp/tools")).json()
        digest = listed["servers"][0]["digest"]
        assert listed["tools"] == []
        assert (await http.post(APPROVE, json={"digests": [digest]})).json() == {"approved": 1}
        (tool,) = (await http.get("/api/v0/mcp/tools?refresh=true")).json()["tools"]
        called = await http.post(CALL, json={"tool_name": tool["name"], "arguments": {"x": 1}})
        assert called.json()["content"][0]["text"] == "one"

    run(scenario)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"[]", 400),
        (b"[" * 100_000, 400),
        (b'{"tool_name": 7}', 400),
        (b'{"tool_name": "a__b", "arguments": []}', 400),
        (b'{"tool_name": "a"}', 400),
        (b'{"tool_name": "x__y"}', 404),
        (b'{"tool_name": "a__b"}', 502),
    ],
)
def test_calls_fail_with_their_own_status(body: bytes, status: int) -> None:
    async def scenario(http: httpx2.AsyncClient, _: ToolServers) -> None:
        answer = await http.post(CALL, content=body)
        assert answer.status_code == status

    run(scenario)


@pytest.mark.parametrize("digests", [None, "a", ["a"], [7], ["A" * 64]])
def test_wrong_digests_are_refused(digests: Any) -> None:
    async def scenario(http: httpx2.AsyncClient, _: ToolServers) -> None:
        assert (await http.post(APPROVE, json={"digests": digests})).status_code == 400

    run(scenario)


def test_a_closed_service_lists_nothing() -> None:
    async def scenario(http: httpx2.AsyncClient, servers: ToolServers) -> None:
        await servers.close()
        assert (await http.get("/api/v0/mcp/tools")).status_code == 503

    run(scenario)
