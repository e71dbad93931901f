"""Requests of one connection, without the SDK."""

import asyncio
import socket

import httpx2
import pytest

from deskhand.desktop.mcp_client.errors import ServerFailed
from deskhand.desktop.mcp_client.remote.server_link import STREAM_INTERVAL, ServerLink
from tests.desktop.mcp_client.remote.servers import PATIENCE, answering, connect, http


def test_streams_that_are_closed_again_and_again_are_requested_at_intervals() -> None:
    pauses = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    async def answers(_line: str, _body: str) -> bytes:
        return http("200 OK", "", "Content-Type: text/event-stream")

    async def scenario() -> None:
        async with asyncio.timeout(PATIENCE), answering(answers) as port:
            link = ServerLink("http", connect, {}, clock=lambda: 5.0, pause=pause)
            async with httpx2.AsyncClient(transport=link, trust_env=False) as client:
                for _ in range(3):
                    await client.get(f"http://127.0.0.1:{port}/")
            assert link.broken == ""

    asyncio.run(scenario())
    assert pauses == [STREAM_INTERVAL, 2 * STREAM_INTERVAL]


def test_a_socket_that_is_not_connected_is_refused_and_closed() -> None:
    made = socket.socket()

    async def unconnected(_host: str, _port: int) -> socket.socket:
        return made

    async def scenario() -> None:
        link = ServerLink("http", unconnected, {})
        async with httpx2.AsyncClient(transport=link, trust_env=False) as client:
            with pytest.raises(ServerFailed, match=r"no connection to 127\.0\.0\.1:80"):
                await client.post("http://127.0.0.1/")
        assert "no connection" in link.broken

    asyncio.run(scenario())
    assert made.fileno() == -1
