"""Requests and WebSockets that a gate forwards to desktops."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Subprotocol

from deskhand.desktop.client.http import DesktopClient
from tests.tools.cluster.gate.gates import TOKEN, A, B, OpenGate, played

SNI = {"sni_hostname": "n7.node.deskhand.internal"}


def opening(gate: OpenGate, path: str, **options: Any) -> connect:
    return connect(
        f"wss://n7.node.deskhand.internal:{gate.port}{path}",
        ssl=gate.cluster.plane.client_context,
        host="127.0.0.1",
        port=gate.port,
        subprotocols=[Subprotocol("binary")],
        proxy=None,
        **options,
    )


def test_a_request_passes_as_it_is_with_the_token_of_the_desktop(tmp_path: Path) -> None:
    async def scenario(gate: OpenGate) -> None:
        path = f"/desktops/{A}/api/v0/read%2Ffile?path=/a%20b&token=x"
        headers = {"Deskhand-Generation": "7", "Authorization": "Bearer mine", "X-Own": "1"}
        answer = await gate.ask("POST", path, content=b"body", headers=headers)
        assert answer.status_code == 418
        assert (answer.headers["x-own"], answer.headers["set-cookie"]) == ("kept", "a=b")
        (found,) = gate.received
        assert found["target"] == "/api/v0/read%2Ffile?path=/a%20b&token=x"
        assert (found["method"], found["length"]) == ("POST", 4)
        sent = dict(found["headers"])
        assert sent["authorization"] == f"Bearer {TOKEN}"
        assert (sent["deskhand-generation"], sent["x-own"]) == ("7", "1")
        assert (await gate.ask("GET", f"/desktops/{A}/healthz")).status_code == 418

    played(tmp_path, scenario)


def test_content_of_any_length_is_streamed_both_ways(tmp_path: Path) -> None:
    async def scenario(gate: OpenGate) -> None:
        async def pieces() -> AsyncIterator[bytes]:
            for _ in range(30):
                yield b"x" * 10_000

        path = f"/desktops/{A}/api/v0/write-file"
        assert (await gate.ask("PUT", path, content=pieces())).json()["length"] == 300_000
        assert (await gate.ask("PUT", path, content=b"x" * 200_000)).json()["length"] == 200_000
        assert (await gate.ask("PUT", path, content=b"")).json()["length"] == 0
        assert len((await gate.ask("GET", f"/desktops/{A}/api/v0/file")).content) == 1_000_000
        head = await gate.ask("HEAD", f"/desktops/{A}/api/v0/context")
        assert (head.status_code, head.content) == (418, b"")

    played(tmp_path, scenario)


def test_a_control_plane_that_leaves_ends_its_request_at_the_desktop(tmp_path: Path) -> None:
    async def scenario(gate: OpenGate) -> None:
        url = f"{gate.url}/desktops/{A}/api/v0/stream"
        async with (
            gate.client(gate.cluster.plane) as http,
            http.stream("GET", url, extensions=SNI) as answer,
        ):
            assert await anext(answer.aiter_raw()) == b"first\n"
            assert not gate.left.is_set()
        await gate.left.wait()

    played(tmp_path, scenario)


def test_desktops_that_are_unknown_or_do_not_answer_are_named(tmp_path: Path) -> None:
    async def scenario(gate: OpenGate) -> None:
        for path in (f"/desktops/{B}/healthz", f"/desktops/{B}/api/v0/desktop"):
            answer = await gate.ask("GET", path)
            assert (answer.status_code, answer.json()["code"]) == (404, "unknown_desktop")
        gate.fleet.clients[A] = DesktopClient("http://127.0.0.1:1", TOKEN)
        answer = await gate.ask("GET", f"/desktops/{A}/healthz")
        assert (answer.status_code, answer.json()["code"]) == (502, "desktop_unavailable")
        assert answer.json()["message"]
        assert (await gate.ask("GET", f"/desktops/{A}/docs")).status_code == 404

    played(tmp_path, scenario)


def test_a_desktop_that_does_not_know_the_token_is_no_refusal_of_the_caller(tmp_path: Path) -> None:
    async def scenario(gate: OpenGate) -> None:
        gate.fleet.token = "another"
        answer = await gate.ask("GET", f"/desktops/{A}/healthz")
        assert (answer.status_code, answer.json()["code"]) == (502, "desktop_unavailable")

    played(tmp_path, scenario)


def test_a_websocket_passes_with_its_query_headers_and_subprotocol(tmp_path: Path) -> None:
    async def scenario(gate: OpenGate) -> None:
        path = f"/desktops/{A}/api/v0/mirror?role=view"
        sent = {"Deskhand-Generation": "7", "Authorization": "Bearer mine"}
        async with opening(gate, path, additional_headers=sent) as websocket:
            assert websocket.subprotocol == "binary"
            headers = gate.received[-1]["headers"]
            assert headers["deskhand-generation"] == "7"
            assert headers["authorization"] == f"Bearer {TOKEN}"
            await websocket.send(b"\x00\xff" * 50_000)
            assert await websocket.recv() == b"role=view:" + b"\x00\xff" * 50_000
        for path, status in (
            (f"/desktops/{B}/api/v0/mirror", 404),
            (f"/desktops/{A}/api/v0/x", 403),
        ):
            with pytest.raises(InvalidStatus) as refused:
                async with opening(gate, path):
                    pass
            assert refused.value.response.status_code == status

    played(tmp_path, scenario)


def test_a_revoked_control_plane_is_refused_on_the_connections_that_it_has(tmp_path: Path) -> None:
    async def scenario(gate: OpenGate) -> None:
        assert (await gate.ask("GET", "/healthz")).status_code == 200
        async with opening(gate, f"/desktops/{A}/api/v0/mirror") as websocket:
            watching = asyncio.create_task(gate.planes.run(0.01))
            await websocket.send(b"1")
            assert await websocket.recv() == b":1"
            revoke(gate)
            answer = await gate.ask("GET", "/healthz")
            assert (answer.status_code, answer.json()["code"]) == (403, "peer_refused")
            assert "revoked" in answer.json()["message"]
            await ended(websocket)
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)

    played(tmp_path, scenario)


def revoke(gate: OpenGate) -> None:
    gate.cluster.files.revoke(gate.cluster.plane.own.member, gate.cluster.plane.own.not_after)
    gate.cluster.spread_revocations()
    assert gate.tls.refresh()


async def ended(websocket: ClientConnection) -> None:
    with pytest.raises(ConnectionClosed):
        await websocket.recv()
