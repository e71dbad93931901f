import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI, HTTPException, Request, Response, WebSocket, WebSocketDisconnect
from fastapi.responses import StreamingResponse
from websockets.exceptions import ConnectionClosed

from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.errors import DesktopRefused, DesktopUnavailable
from tests.desktop.serving import Service, serving

LIMIT = 20
TOKEN = "dh_secret"
CLICK: dict[str, Any] = {"action": "left_click", "coordinate": [0, 0]}

Scenario = Callable[[DesktopClient], Awaitable[None]]


async def echo(request: Request) -> Any:
    return {
        "headers": dict(request.headers),
        "query": dict(request.query_params),
        "body": (await request.body()).decode(),
    }


async def large() -> Response:
    return Response(b"x" * 3_000_000, media_type="video/mp4")


async def cut() -> StreamingResponse:
    async def body() -> AsyncIterator[bytes]:
        yield b"x" * 10
        raise HTTPException(500)

    return StreamingResponse(body(), headers={"content-length": "20"})


async def broken_json() -> Response:
    return Response(b"{", media_type="application/json")


async def empty() -> Response:
    return Response(status_code=204, media_type="application/json")


async def refused() -> Response:
    raise HTTPException(409, {"message": "Held.", "detail": "by a chat"})


async def refused_oddly() -> Response:
    return Response(b"no json", 502)


async def socket(websocket: WebSocket) -> None:
    if websocket.headers.get("authorization") != f"Bearer {TOKEN}":
        await websocket.close()
        return
    await websocket.accept(subprotocol=next(iter(websocket.scope["subprotocols"]), None))
    await websocket.send_bytes(websocket.query_params.get("role", "").encode())
    with suppress(WebSocketDisconnect):
        while True:
            await websocket.send_bytes(await websocket.receive_bytes())


async def pieces() -> AsyncGenerator[bytes, None]:
    for piece in (b"a", b"", b"bc"):
        yield piece


def extended(service: Service) -> FastAPI:
    """The desktop's routes and some that misbehave."""
    app = service.app
    app.post("/echo")(echo)
    app.websocket("/socket")(socket)
    for route in (large, cut, empty, broken_json, refused, refused_oddly):
        app.get(f"/{route.__name__}".replace("_", "-"), response_model=None)(route)
    return app


@asynccontextmanager
async def visiting(folder: Path | None, token: str = TOKEN) -> AsyncIterator[DesktopClient]:
    service = Service()
    async with (
        service.computer,
        serving(extended(service), folder) as address,
        DesktopClient(address, token) as client,
    ):
        yield client


def run(scenario: Scenario, folder: Path | None = None, token: str = TOKEN) -> None:
    async def limited() -> None:
        async with asyncio.timeout(LIMIT), visiting(folder, token) as client:
            await scenario(client)

    asyncio.run(limited())


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@pytest.mark.parametrize("unix", [True, False])
def test_a_desktop_is_worked_over_a_unix_socket_and_over_tcp(tmp_path: Path, unix: bool) -> None:
    async def scenario(client: DesktopClient) -> None:
        assert await client.status() == {"display": ":7"}
        assert await client.screenshot(format="jpeg") == b"jpeg 1280x720 of 0"
        done = await client.action(CLICK, headers={"Deskhand-Chat-Id": "c"})
        assert done["native_point"] == [0, 0]
        both = await client.actions({"actions": [CLICK, CLICK]})
        assert len(both["results"]) == 2

    run(scenario, tmp_path if unix else None)


def test_a_request_carries_the_token_and_what_it_is_given() -> None:
    async def scenario(client: DesktopClient) -> None:
        sent = await client.request(
            "POST", "/echo", json={"a": 1}, params={"q": "1"}, headers={"Deskhand-Chat-Id": "c"}
        )
        assert sent["headers"]["authorization"] == f"Bearer {TOKEN}"
        assert sent["headers"]["deskhand-chat-id"] == "c"
        assert sent["query"] == {"q": "1"}
        assert sent["body"] == '{"a":1}'

    run(scenario)


def test_bytes_have_a_content_type() -> None:
    async def scenario(client: DesktopClient) -> None:
        plain = await client.request("POST", "/echo", content=b"abc")
        assert plain["headers"]["content-type"] == "application/octet-stream"
        own = await client.request(
            "POST", "/echo", content=b"{}", headers={"content-type": "application/json"}
        )
        assert own["headers"]["content-type"] == "application/json"

    run(scenario)


def test_a_refusal_carries_status_message_and_detail() -> None:
    async def scenario(client: DesktopClient) -> None:
        with pytest.raises(DesktopRefused) as caught:
            await client.request("GET", "/refused")
        error = caught.value
        assert (error.status, error.message, error.detail) == (409, "Held.", "by a chat")
        with pytest.raises(DesktopRefused, match="status 502"):
            await client.request("GET", "/refused-oddly")
        with pytest.raises(DesktopRefused, match="Unknown action: dance"):
            await client.action({"action": "dance"})

    run(scenario)


def test_an_answer_without_a_body_is_empty_whatever_type_it_names() -> None:
    async def scenario(client: DesktopClient) -> None:
        assert await client.request("GET", "/empty") == b""

    run(scenario)


def test_answers_that_make_no_sense_are_a_service_that_is_not_there() -> None:
    async def scenario(client: DesktopClient) -> None:
        with pytest.raises(DesktopUnavailable, match="broken JSON"):
            await client.request("GET", "/broken-json")

    run(scenario)


@pytest.mark.parametrize("address", ["unix:/nowhere/api.sock", "http://127.0.0.1:9"])
def test_a_service_that_is_not_there_is_unavailable(address: str, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with asyncio.timeout(LIMIT), DesktopClient(address, TOKEN) as client:
            with pytest.raises(DesktopUnavailable):
                await client.status()
            with pytest.raises(DesktopUnavailable):
                await client.download("/large", tmp_path / "large")
            with pytest.raises(DesktopUnavailable):
                async with client.websocket("/socket"):
                    pytest.fail("must not open")

    asyncio.run(scenario())
    assert names(tmp_path) == []


def test_a_download_goes_to_disk(tmp_path: Path) -> None:
    async def scenario(client: DesktopClient) -> None:
        to = tmp_path / "video.mp4"
        assert await client.download("/large", to, {"a": "b"}) == 3_000_000

    run(scenario)
    assert (tmp_path / "video.mp4").stat().st_size == 3_000_000
    assert names(tmp_path) == ["video.mp4"]


def test_a_download_without_room_is_not_the_fault_of_the_service(tmp_path: Path) -> None:
    async def scenario(client: DesktopClient) -> None:
        with pytest.raises(FileNotFoundError):
            await client.download("/large", tmp_path / "no folder" / "video.mp4")

    run(scenario)


def test_a_download_that_is_refused_or_breaks_off_leaves_no_file(tmp_path: Path) -> None:
    async def scenario(client: DesktopClient) -> None:
        with pytest.raises(DesktopRefused, match=r"Held\. by a chat"):
            await client.download("/refused", tmp_path / "a")
        with pytest.raises(DesktopUnavailable):
            await client.download("/cut", tmp_path / "b")

    run(scenario)
    assert names(tmp_path) == []


def test_a_stream_gives_any_answer_with_its_body_to_be_read() -> None:
    async def scenario(client: DesktopClient) -> None:
        async with client.stream("GET", "/large") as answer:
            assert sum([len(chunk) async for chunk in answer.chunks()]) == 3_000_000
        async with client.stream("POST", "/echo", content=pieces(), params={"q": "1"}) as answer:
            assert json.loads(await answer.read())["body"] == "abc"
        async with client.stream("GET", "/refused") as answer:
            assert answer.status == 409

    run(scenario)


@pytest.mark.parametrize("unix", [True, False])
def test_a_websocket_carries_large_messages_both_ways(tmp_path: Path, unix: bool) -> None:
    async def scenario(client: DesktopClient) -> None:
        async with client.websocket("/socket", ["binary"], {"role": "view"}) as websocket:
            assert websocket.subprotocol == "binary"
            assert await websocket.recv() == b"view"
            await websocket.send(b"x" * 2_000_000)
            assert await websocket.recv() == b"x" * 2_000_000
        with pytest.raises(ConnectionClosed):
            await websocket.recv()

    run(scenario, tmp_path if unix else None)


def test_a_websocket_without_subprotocols_has_none() -> None:
    async def scenario(client: DesktopClient) -> None:
        async with client.websocket("/socket") as websocket:
            assert websocket.subprotocol is None

    run(scenario)


def test_a_refused_websocket_carries_its_status() -> None:
    async def scenario(client: DesktopClient) -> None:
        with pytest.raises(DesktopRefused) as caught:
            async with client.websocket("/socket"):
                pytest.fail("must not open")
        assert caught.value.status == 403

    run(scenario, token="wrong")
