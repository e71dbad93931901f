"""Files of desktops that a node puts into a bucket."""

import asyncio
import hashlib
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.tools.cluster.gate.gates import A, B, OpenGate, played
from tests.tools.control_plane.fakes import local_socket, serving

CONTENT = b"0123456789" * 100_000


def test_a_file_is_put_to_the_signed_address_with_its_length(tmp_path: Path) -> None:
    stored: list[tuple[bytes, dict[str, str]]] = []

    async def put(request: Request) -> Response:
        stored.append((await request.body(), dict(request.headers)))
        return Response(status_code=403 if request.url.query == "expired" else 200)

    bucket = Starlette(routes=[Route("/bucket/key", put, methods=["PUT"])])

    async def scenario(gate: OpenGate) -> None:
        bound, address = local_socket()
        async with serving(bucket, bound):
            url = f"http://{address}/bucket/key"
            body: dict[str, Any] = {"desktop_id": A, "path": "/api/v0/file", "put_url": url}
            answer = await gate.ask("POST", "/uploads", json=body | {"headers": {"X-Amz-A": "1"}})
            digest = hashlib.sha256(CONTENT).hexdigest()
            assert answer.json() == {"size": len(CONTENT), "sha256": digest}
            ((content, headers),) = stored
            assert content == CONTENT
            assert headers["content-length"] == str(len(CONTENT))
            assert headers["x-amz-a"] == "1"
            assert "transfer-encoding" not in headers
            assert "authorization" not in headers
            ((actor, action, subject, details),) = gate.notes
            assert (actor, action, subject) == ("p1", "node.upload", A)
            assert details == {"path": "/api/v0/file", "size": len(CONTENT), "sha256": digest}
            failed = await gate.ask("POST", "/uploads", json=body | {"put_url": url + "?expired"})
            assert (failed.status_code, failed.json()["code"]) == (502, "upload_failed")

    played(tmp_path, scenario)


def test_an_upload_ends_with_the_request_for_it(tmp_path: Path) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def put(request: Request) -> Response:
        begun.set()
        try:
            while (await request.receive())["type"] != "http.disconnect":
                pass
        finally:
            ended.set()
        return Response()

    bucket = Starlette(routes=[Route("/bucket/key", put, methods=["PUT"])])

    async def scenario(gate: OpenGate) -> None:
        bound, address = local_socket()
        async with serving(bucket, bound):
            url = f"http://{address}/bucket/key"
            body = {"desktop_id": A, "path": "/api/v0/file", "put_url": url}
            asking = asyncio.create_task(gate.ask("POST", "/uploads", json=body))
            await begun.wait()
            asking.cancel()
            await ended.wait()

    played(tmp_path, scenario)


def test_uploads_that_cannot_be_made_are_refused(tmp_path: Path) -> None:
    async def scenario(gate: OpenGate) -> None:
        good: dict[str, Any] = {
            "desktop_id": A,
            "path": "/api/v0/file",
            "put_url": "http://127.0.0.1:1/",
        }
        for wrong, code in (
            ({"path": "/healthz"}, "bad_order"),
            ({"put_url": "file:///etc/passwd"}, "bad_order"),
            ({"headers": ["a"]}, "bad_order"),
            ({"desktop_id": B}, "unknown_desktop"),
            ({"path": "/api/v0/missing"}, "upload_failed"),
            ({}, "upload_failed"),
            ({"put_url": None}, "bad_order"),
        ):
            answer = await gate.ask("POST", "/uploads", json=good | wrong)
            assert answer.json()["code"] == code, wrong
            assert answer.json()["message"]

    played(tmp_path, scenario)
