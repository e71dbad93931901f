"""A service that stands where a desktop's service would, and reports what reached it."""

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from deskhand.desktop.client.http import DesktopClient
from tests.tools.control_plane.fakes import serving, unix_socket

METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE"]
MEBIBYTE = 1 << 20
ENDLESS = 1024


@dataclass
class DesktopLike:
    """What the service saw, and what it waits for."""

    waiting: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    sent: int = 0
    address: str = ""

    def app(self) -> Starlette:
        """Return the service."""
        at = "/api/v0/desktop/"
        return Starlette(
            routes=[
                Route(at + "echo", self._echo, methods=METHODS),
                Route(at + "headers", self._headers),
                Route(at + "unchanged", _unchanged),
                Route(at + "strange", _strange),
                Route(at + "endless", self._endless),
                Route(at + "broken", _broken),
                Route("/api/v0/processes/p1/output", self._wait),
                WebSocketRoute(at + "vnc", _stream),
                WebSocketRoute("/api/v0/git/watch", _stream),
                WebSocketRoute(at + "closed", _closed),
                WebSocketRoute(at + "full", _full),
                WebSocketRoute(at + "locked", _locked),
            ]
        )

    async def _echo(self, request: Request) -> Response:
        length = 0
        async for chunk in request.stream():
            length += len(chunk)
        return JSONResponse(
            {
                "method": request.method,
                "path": request.url.path,
                "query": request.url.query,
                "length": length,
                "headers": dict(request.headers),
            }
        )

    async def _headers(self, request: Request) -> Response:
        return Response(
            "<script>",
            status_code=418,
            media_type="text/html",
            headers={
                "Set-Cookie": "deskhand_1=evil",
                "Location": "http://evil",
                "Access-Control-Allow-Origin": "*",
                "Content-Security-Policy": "default-src *",
                "ETag": '"7"',
                "Deskhand-Mark": "kept",
            },
        )

    async def _wait(self, request: Request) -> Response:
        self.waiting.set()
        while (await request.receive())["type"] != "http.disconnect":
            pass
        self.left.set()
        return Response()

    async def _endless(self, request: Request) -> Response:
        async def pieces() -> AsyncIterator[bytes]:
            for _ in range(ENDLESS):
                self.sent += 1
                yield bytes(MEBIBYTE)

        return StreamingResponse(pieces(), media_type="application/octet-stream")


async def _unchanged(request: Request) -> Response:
    return Response(status_code=304, headers={"ETag": request.headers["if-none-match"]})


async def _strange(request: Request) -> Response:
    return JSONResponse({"message": "Sign in first."}, 401)


async def _broken(request: Request) -> Response:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"half"
        raise ConnectionError

    return StreamingResponse(pieces(), headers={"Content-Length": "8"}, media_type="image/png")


async def _stream(websocket: WebSocket) -> None:
    offered = websocket.scope["subprotocols"]
    await websocket.accept("binary" if "binary" in offered else None)
    await websocket.send_text(f"{websocket.url.query} {websocket.headers['authorization']}")
    with contextlib.suppress(WebSocketDisconnect):
        while True:
            await websocket.send_bytes((await websocket.receive_bytes())[::-1])


async def _closed(websocket: WebSocket) -> None:
    await websocket.accept()
    await websocket.close(4001, "Enough.")


async def _full(websocket: WebSocket) -> None:
    body = {"message": "Desktop API is shutting down.", "detail": "again later"}
    await websocket.send_denial_response(JSONResponse(body, 503))


async def _locked(websocket: WebSocket) -> None:
    await websocket.send_denial_response(JSONResponse({"message": "Sign in first."}, 401))


@contextlib.asynccontextmanager
async def desktop_like() -> AsyncIterator[tuple[DesktopLike, DesktopClient]]:
    """Serve one on a unix socket and yield it with a client of it."""
    service = DesktopLike()
    # Not pytest's folder: the name of a unix socket has about 100 bytes of room.
    with tempfile.TemporaryDirectory(prefix="dh") as folder:
        path = Path(folder) / "s"
        service.address = f"unix:{path}"
        client = DesktopClient(service.address, "service-token")
        async with serving(service.app(), unix_socket(path)), client:
            yield service, client
