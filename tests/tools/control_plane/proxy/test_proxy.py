import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from deskhand.desktop.client.http import DesktopClient
from tests.tools.control_plane.fakes import (
    LIMIT,
    TOKEN,
    ControlPlaneFixture,
    control_plane,
    local_socket,
    serving,
)
from tests.tools.control_plane.proxy.desktop_like import MEBIBYTE, DesktopLike, desktop_like

D1 = "/api/v0/desktops/d1"
AUTHORIZED = {"Authorization": f"Bearer {TOKEN}"}


@dataclass
class World:
    """A served control plane before a served desktop."""

    control_plane: ControlPlaneFixture
    desktop: DesktopLike
    address: str
    client: httpx2.AsyncClient

    def websocket(self, path: str, **options: Any) -> connect:
        return connect(
            f"ws://{self.address}{path}",
            additional_headers=AUTHORIZED,
            proxy=None,
            max_size=None,
            **options,
        )


@contextlib.asynccontextmanager
async def world(tmp_path: Path) -> AsyncIterator[World]:
    made = control_plane(tmp_path)
    bound, address = local_socket()
    async with (
        asyncio.timeout(LIMIT),
        desktop_like() as (desktop, service),
        serving(made.app, bound),
        httpx2.AsyncClient(
            base_url=f"http://{address}", headers=AUTHORIZED, trust_env=False, timeout=LIMIT
        ) as client,
    ):
        made.desktops.services["d1"] = service
        yield World(made, desktop, address, client)


def test_a_request_passes_with_its_query_and_body(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with world(tmp_path) as w:
            path = f"{D1}/desktop/echo?a=1%2F2&ticket=secret"
            echoed = (await w.client.post(path, json={"x": 1})).json()
        assert echoed["method"] == "POST"
        assert echoed["path"] == "/api/v0/desktop/echo"
        assert echoed["query"] == "a=1%2F2"
        assert echoed["length"] == 7
        assert echoed["headers"]["content-type"] == "application/json"

    asyncio.run(scenario())


def test_the_desktop_sees_the_services_token_and_who_calls_and_nothing_else(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        async with world(tmp_path) as w:
            forged = {
                "Cookie": "deskhand_01234567=x",
                "Deskhand-Chat-Id": "forged",
                "Deskhand-Caller": "forged",
                "Coder-Chat-Id": "forged",
                "Forwarded": "for=1.2.3.4",
                "X-Forwarded-For": "1.2.3.4",
                "Origin": f"http://{w.address}",
                "Referer": "http://elsewhere",
                "Accept": "application/json",
            }
            echoed = (await w.client.get(f"{D1}/desktop/echo", headers=forged)).json()
        assert echoed["length"] == 0
        assert echoed["headers"] == {
            "host": "localhost",
            "accept": "application/json",
            "accept-encoding": "gzip, deflate",
            "user-agent": echoed["headers"]["user-agent"],
            "authorization": "Bearer service-token",
            "deskhand-role": "admin",
            "deskhand-caller": "admin",
            "deskhand-base": f"ws://{w.client.base_url.netloc.decode()}{D1}/desktop",
        }

    asyncio.run(scenario())


def test_an_answer_comes_back_without_what_could_rule_the_page(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with world(tmp_path) as w:
            reply = await w.client.get(f"{D1}/desktop/headers")
        assert (reply.status_code, reply.text) == (418, "<script>")
        gone = {"set-cookie", "location", "access-control-allow-origin"}
        assert not gone & set(reply.headers)
        assert reply.headers["etag"] == '"7"'
        assert reply.headers["deskhand-mark"] == "kept"
        assert reply.headers["content-security-policy"] == "sandbox; default-src 'none'"
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["content-disposition"] == "attachment"
        assert reply.headers.get_list("content-length") == ["8"]

    asyncio.run(scenario())


def test_head_and_not_modified_pass_without_a_body(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with world(tmp_path) as w:
            head = await w.client.head(f"{D1}/desktop/echo")
            assert (head.status_code, head.content) == (200, b"")
            known = {"If-None-Match": '"7"'}
            same = await w.client.get(f"{D1}/desktop/unchanged", headers=known)
            assert (same.status_code, same.headers["etag"]) == (304, '"7"')

    asyncio.run(scenario())


def test_a_large_upload_is_streamed(tmp_path: Path) -> None:
    async def scenario() -> None:
        async def pieces() -> AsyncIterator[bytes]:
            for _ in range(16):
                yield bytes(MEBIBYTE)

        async with world(tmp_path) as w:
            binary = {"Content-Type": "application/octet-stream"}
            path = f"{D1}/desktop/echo"
            echoed = (await w.client.post(path, content=pieces(), headers=binary)).json()
        assert echoed["length"] == 16 * MEBIBYTE
        assert echoed["headers"]["content-type"] == "application/octet-stream"

    asyncio.run(scenario())


def test_a_slow_reader_holds_the_desktop_back(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with (
            world(tmp_path) as w,
            w.client.stream("GET", f"{D1}/desktop/endless") as reply,
        ):
            # Kept: a forgotten iterator is closed, and the connection with it.
            pieces = reply.aiter_raw()
            await anext(pieces)
            for _ in range(30):
                await w.client.get(f"{D1}/desktop/echo")
            assert 0 < w.desktop.sent < 64

    asyncio.run(scenario())


def test_a_client_that_leaves_ends_the_wait_on_the_desktop(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with world(tmp_path) as w:
            host, _, port = w.address.partition(":")
            _, writer = await asyncio.open_connection(host, int(port))
            writer.write(
                f"GET {D1}/processes/p1/output?wait=true HTTP/1.1\r\nHost: {w.address}\r\n"
                f"Authorization: Bearer {TOKEN}\r\n\r\n".encode()
            )
            await w.desktop.waiting.wait()
            writer.close()
            await w.desktop.left.wait()

    asyncio.run(scenario())


def test_a_client_that_leaves_in_its_upload_ends_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with world(tmp_path) as w:
            host, _, port = w.address.partition(":")
            _, writer = await asyncio.open_connection(host, int(port))
            writer.write(
                f"POST {D1}/processes/p1/output HTTP/1.1\r\nHost: {w.address}\r\n"
                f"Authorization: Bearer {TOKEN}\r\nContent-Length: 100\r\n\r\nabc".encode()
            )
            await writer.drain()
            writer.close()
            assert (await w.client.get(f"{D1}/desktop/echo")).status_code == 200

    asyncio.run(scenario())


def test_an_answer_that_breaks_off_is_no_whole_answer(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with world(tmp_path) as w:
            with pytest.raises(httpx2.RemoteProtocolError):
                await w.client.get(f"{D1}/desktop/broken")

    asyncio.run(scenario())


def test_a_refused_service_token_is_no_end_of_the_persons_session(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with world(tmp_path) as w:
            reply = await w.client.get(f"{D1}/desktop/strange")
        assert reply.status_code == 502
        assert reply.json() == {
            "message": "The desktop refused.",
            "detail": "It does not know the control plane's token.",
        }

    asyncio.run(scenario())


def test_an_unreachable_desktop_is_reported(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        async with DesktopClient("unix:/nowhere/at/all", "t") as service, made.client() as client:
            made.desktops.services["d1"] = service
            reply = await client.get(f"{D1}/desktop")
            assert reply.status_code == 502
            assert reply.json()["message"] == "The desktop cannot be reached."
            status, body = await made.ask(f"{D1}/desktop/vnc", kind="websocket")
            assert (status, body["message"]) == (502, "The desktop cannot be reached.")

    asyncio.run(scenario())


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        (f"{D1}/desktop", 404, "Desktop not found."),
        (f"{D1}/desktop/../../../tokens", 400, "Path may not pass to a desktop."),
        (f"{D1}/desktop/%2e%2e/tokens", 400, "Path may not pass to a desktop."),
        (f"{D1}/desktop%2fvnc", 400, "Path may not pass to a desktop."),
        (f"{D1}/desktop%5cvnc", 400, "Path may not pass to a desktop."),
        (f"{D1}//desktop", 400, "Path may not pass to a desktop."),
        (f"{D1}/desktop//vnc", 400, "Path may not pass to a desktop."),
        (f"{D1}/tokens", 404, "No such path on a desktop."),
        (f"{D1}/login", 404, "No such path on a desktop."),
    ],
)
def test_what_may_not_pass_is_refused_with_a_reason(
    tmp_path: Path, kind: str, path: str, status: int, message: str
) -> None:
    async def scenario() -> None:
        answered, body = await control_plane(tmp_path).ask(path, kind=kind)
        assert (answered, body["message"]) == (status, message)
        assert body["detail"]

    asyncio.run(scenario())


async def first_message_of(connection: ClientConnection) -> str:
    greeting = await connection.recv()
    await connection.send(b"abc")
    assert await connection.recv() == b"cba"
    assert isinstance(greeting, str)
    return greeting


def test_a_websocket_passes_both_ways(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with world(tmp_path) as w:
            path = f"{D1}/desktop/vnc?role=view&ticket=x"
            async with w.websocket(path, subprotocols=["binary"]) as connection:
                assert connection.subprotocol == "binary"
                assert await first_message_of(connection) == "role=view Bearer service-token"
                await connection.send(bytes(2 * MEBIBYTE))
                assert len(await connection.recv()) == 2 * MEBIBYTE
            async with w.websocket(f"{D1}/desktop/vnc") as connection:
                assert connection.subprotocol is None

    asyncio.run(scenario())


def test_a_close_of_the_desktop_reaches_the_client_as_it_is(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with world(tmp_path) as w, w.websocket(f"{D1}/desktop/closed") as connection:
            with pytest.raises(ConnectionClosed):
                await connection.recv()
            assert (connection.close_code, connection.close_reason) == (4001, "Enough.")

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        (f"{D1}/desktop/full", 503, "Desktop API is shutting down."),
        (f"{D1}/desktop/locked", 502, "The desktop refused."),
        ("/api/v0/desktops/d2/desktop/vnc", 404, "Desktop not found."),
    ],
)
def test_a_refused_websocket_is_a_plain_answer(
    tmp_path: Path, path: str, status: int, message: str
) -> None:
    async def scenario() -> None:
        async with world(tmp_path) as w:
            with pytest.raises(InvalidStatus) as refused:
                await w.websocket(path)
        answer = refused.value.response
        assert (answer.status_code, json.loads(answer.body or b"")["message"]) == (status, message)

    asyncio.run(scenario())


def test_a_chats_desktop_is_watched_by_the_chats_id(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with world(tmp_path) as w:
            chat = w.control_plane.chats.add(desktop_id="d1")
            async with w.websocket(f"/api/v0/chats/{chat.id}/desktop") as connection:
                assert await first_message_of(connection) == " Bearer service-token"

    asyncio.run(scenario())


def test_a_chats_repositories_are_watched_by_the_chats_id(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with world(tmp_path) as w:
            chat = w.control_plane.chats.add(desktop_id="d1")
            async with w.websocket(f"/api/v0/chats/{chat.id}/git/watch") as connection:
                first_message = await first_message_of(connection)
                assert first_message == f"chat_id={chat.id} Bearer service-token"

    asyncio.run(scenario())


def test_a_chat_without_a_desktop_or_no_chat_has_nothing_to_watch(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        idle, lost = made.chats.add(), made.chats.add(desktop_id="gone")
        for chat_id, expected in (
            (idle.id, (400, "Chat has no desktop.")),
            (lost.id, (404, "Desktop not found.")),
            ("unknown", (404, "Chat not found.")),
        ):
            status, body = await made.ask(f"/api/v0/chats/{chat_id}/desktop", kind="websocket")
            assert (status, body["message"]) == expected

    asyncio.run(scenario())
