import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import pytest
from fastapi import APIRouter
from starlette.websockets import WebSocket
from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from deskhand.vncbridge.websocket.tunnel import tunnel
from tests.vncbridge.fakes import LIMIT, Service


class Through:
    """A browser, our pass-through, and a service behind it."""

    def __init__(self, behaviour: Callable[[ServerConnection], Awaitable[None]]) -> None:
        self._behaviour = behaviour
        self.passed = asyncio.Event()

    @asynccontextmanager
    async def browser(self, stuck_seconds: float = 30.0) -> AsyncIterator[ClientConnection]:
        options = {"compression": None, "max_size": None}
        async with (
            asyncio.timeout(LIMIT),
            serve(self._behaviour, "127.0.0.1", 0, **options) as behind,  # type: ignore[arg-type]
        ):
            port = next(iter(behind.sockets)).getsockname()[1]
            routes = APIRouter()

            @routes.websocket("/pass")
            async def passed(websocket: WebSocket) -> None:
                async with connect(f"ws://127.0.0.1:{port}", compression=None) as service:
                    await websocket.accept()
                    await tunnel(websocket, service, stuck_seconds)
                self.passed.set()

            async with Service(routes) as service:
                url = f"ws://127.0.0.1:{service.port}/pass"
                async with connect(url, compression=None, max_queue=1) as browser:
                    yield browser
                await self.passed.wait()


async def close_of(connection: ClientConnection | ServerConnection) -> tuple[int, str]:
    with suppress(ConnectionClosed):
        while True:
            await connection.recv()
    return connection.close_code or 0, connection.close_reason or ""


def test_bytes_and_text_pass_both_ways() -> None:
    async def echo(connection: ServerConnection) -> None:
        async for message in connection:
            await connection.send(message)

    async def scenario() -> None:
        async with Through(echo).browser() as browser:
            await browser.send(b"\x00\xff")
            assert await browser.recv() == b"\x00\xff"
            await browser.send("words")
            assert await browser.recv() == "words"

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("code", "reason"), [(1000, ""), (1001, "away"), (1013, "stuck"), (4001, "ours")]
)
def test_the_services_close_reason_reaches_the_browser(code: int, reason: str) -> None:
    async def leave(connection: ServerConnection) -> None:
        await connection.close(code, reason)

    async def scenario() -> tuple[int, str]:
        async with Through(leave).browser() as browser:
            return await close_of(browser)

    assert asyncio.run(scenario()) == (code, reason)


def test_the_browsers_close_reason_reaches_the_service() -> None:
    heard: list[tuple[int, str]] = []

    async def listen(connection: ServerConnection) -> None:
        heard.append(await close_of(connection))

    async def scenario() -> None:
        async with Through(listen).browser() as browser:
            await browser.close(4002, "enough")

    asyncio.run(scenario())
    assert heard == [(4002, "enough")]


def test_a_lost_service_closes_the_browser_with_an_error() -> None:
    async def vanish(connection: ServerConnection) -> None:
        connection.transport.abort()

    async def scenario() -> tuple[int, str]:
        async with Through(vanish).browser() as browser:
            return await close_of(browser)

    assert asyncio.run(scenario()) == (1011, "The other side was lost.")


def test_a_stuck_browser_stops_the_service_and_is_dropped() -> None:
    sent = 0

    async def flood(connection: ServerConnection) -> None:
        nonlocal sent
        with suppress(ConnectionClosed):
            while True:
                await connection.send(bytes(65536))
                sent += 65536

    async def scenario() -> tuple[int, str]:
        through = Through(flood)
        async with through.browser(stuck_seconds=0.3) as browser:
            await through.passed.wait()
            return await close_of(browser)

    assert asyncio.run(scenario()) == (1013, "Nothing was read for 0.3 s.")
    assert sent < 48 * 1024 * 1024
