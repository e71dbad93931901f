import asyncio
from collections.abc import MutableMapping
from typing import Any

import pytest
from fastapi import APIRouter
from fastapi.responses import JSONResponse
from starlette.websockets import WebSocket
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.http11 import Request

from deskhand.vncbridge.server.websocket_protocol import EXTENSION, StreamProtocol
from tests.vncbridge.fakes import LIMIT, Service


def test_the_application_sees_the_unsent_bytes_and_may_drop_the_peer() -> None:
    routes = APIRouter()
    waited: list[int] = []

    @routes.websocket("/stream")
    async def stream(websocket: WebSocket) -> None:
        extension = websocket.scope["extensions"][EXTENSION]
        await websocket.accept()
        await websocket.send_bytes(bytes(100_000))
        waited.append(extension["waiting"]())
        extension["drop"](4000, "enough")
        extension["drop"](4001, "twice does nothing")

    async def scenario() -> tuple[int | None, str | None]:
        async with asyncio.timeout(LIMIT), Service(routes) as service:
            url = f"ws://127.0.0.1:{service.port}/stream"
            async with connect(url, compression=None) as browser:
                assert len(await browser.recv()) == 100_000
                with pytest.raises(ConnectionClosed):
                    await browser.recv()
                return browser.close_code, browser.close_reason

    assert asyncio.run(scenario()) == (4000, "enough")
    assert 0 <= waited[0] <= 100_020


def test_a_connection_not_yet_accepted_is_refused_at_shutdown() -> None:
    routes = APIRouter()
    arrived = asyncio.Event()

    @routes.websocket("/stream")
    async def stream(websocket: WebSocket) -> None:
        arrived.set()
        await websocket.receive()
        await websocket.receive()

    async def scenario() -> int:
        async with asyncio.timeout(LIMIT), Service(routes) as service:

            async def ask() -> int:
                with pytest.raises(InvalidStatus) as refused:
                    await connect(f"ws://127.0.0.1:{service.port}/stream")
                return refused.value.response.status_code

            asking = asyncio.create_task(ask())
            await arrived.wait()
            await service.stop()
            return await asking

    assert asyncio.run(scenario()) == 500


def test_a_peer_that_answers_no_ping_gets_the_reason_and_is_dropped() -> None:
    routes = APIRouter()
    arrived = asyncio.Event()
    heard: asyncio.Queue[MutableMapping[str, Any]] = asyncio.Queue()

    @routes.websocket("/stream")
    async def stream(websocket: WebSocket) -> None:
        await websocket.accept()
        arrived.set()
        heard.put_nowait(await websocket.receive())

    async def scenario() -> list[tuple[int | None, str | None]]:
        async with asyncio.timeout(LIMIT), Service(routes, ping_seconds=(0.1, 0.2)) as service:
            url = f"ws://127.0.0.1:{service.port}/stream"
            async with connect(url, compression=None) as browser:
                browser.transport.pause_reading()
                await arrived.wait()
                message = await heard.get()
                browser.transport.resume_reading()
                with pytest.raises(ConnectionClosed):
                    await browser.recv()
                said = (browser.close_code, browser.close_reason)
                return [said, (message["code"], message["reason"])]

    assert asyncio.run(scenario()) == 2 * [(1011, "A ping was not answered for 0.2 s.")]


@pytest.mark.parametrize("length", [0, 125, 126, 65535, 65536, 300_000])
def test_bytes_of_any_length_are_sent_as_one_message(length: int) -> None:
    routes = APIRouter()

    @routes.websocket("/stream")
    async def stream(websocket: WebSocket) -> None:
        await websocket.accept()
        await websocket.scope["extensions"][EXTENSION]["send"](b"\x07" * length)
        await websocket.receive()
        with pytest.raises(ConnectionError):
            await websocket.scope["extensions"][EXTENSION]["send"](b"too late")

    async def scenario() -> object:
        async with asyncio.timeout(LIMIT), Service(routes) as service:
            url = f"ws://127.0.0.1:{service.port}/stream"
            async with connect(url, compression=None) as browser:
                return await browser.recv()

    assert asyncio.run(scenario()) == b"\x07" * length


def test_a_refusal_completes_the_handshake(capsys: pytest.CaptureFixture[str]) -> None:
    routes = APIRouter()

    @routes.websocket("/stream")
    async def stream(websocket: WebSocket) -> None:
        await websocket.send_denial_response(JSONResponse({"message": "No."}, 409))

    async def scenario() -> tuple[int, bytes]:
        async with asyncio.timeout(LIMIT), Service(routes) as service:
            with pytest.raises(InvalidStatus) as refused:
                await connect(f"ws://127.0.0.1:{service.port}/stream")
            response = refused.value.response
            return response.status_code, bytes(response.body or b"")

    assert asyncio.run(scenario()) == (409, b'{"message":"No."}')
    # uvicorn writes its log to standard error.
    assert capsys.readouterr().err == ""


class BreakingProtocol(StreamProtocol):
    """A connection that breaks when the application wants it to."""

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        ours: dict[object, object] = {"call": self.break_off}
        self.scope["extensions"] = {**(self.scope["extensions"] or {}), "break": ours}

    def break_off(self) -> None:
        """As a reset of the peer: the transport closes now, the protocol hears of it later."""
        self.transport.abort()


@pytest.mark.parametrize("answers", [True, False])
def test_a_peer_that_leaves_during_the_handshake_is_no_error(
    answers: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    routes = APIRouter()

    @routes.websocket("/stream")
    async def stream(websocket: WebSocket) -> None:
        websocket.scope["extensions"]["break"]["call"]()
        if answers:
            await websocket.accept()

    async def scenario() -> None:
        async with asyncio.timeout(LIMIT), Service(routes, protocol=BreakingProtocol) as service:
            with pytest.raises((ConnectionError, InvalidHandshake)):
                await connect(f"ws://127.0.0.1:{service.port}/stream")

    asyncio.run(scenario())
    # uvicorn writes its log to standard error.
    assert capsys.readouterr().err == ""


def test_a_peer_that_leaves_an_endpoint_that_reads_is_no_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    routes = APIRouter()

    @routes.websocket("/stream")
    async def stream(websocket: WebSocket) -> None:
        await websocket.accept()
        # Starlette raises ``WebSocketDisconnect``, which only a loop over messages expects.
        await websocket.receive_text()

    async def scenario() -> None:
        async with asyncio.timeout(LIMIT), Service(routes) as service:
            browser = await connect(f"ws://127.0.0.1:{service.port}/stream")
            await browser.close()

    asyncio.run(scenario())
    # uvicorn writes its log to standard error.
    assert capsys.readouterr().err == ""
