"""Carry RFB between watchers' WebSockets and the RFB server.

What the server sends is passed on unread. What a client sends is parsed by
`vncbridge.rfb.messages`, and only what its seat allows reaches the server.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn, Protocol

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from starlette.websockets import WebSocket

from deskhand.vncbridge.errors import BridgeError, ProtocolBroken, UpstreamUnavailable
from deskhand.vncbridge.websocket.client_stream import (
    BROKEN,
    NORMAL,
    NOT_BINARY,
    STUCK_SECONDS,
    ClientStream,
    CloseReason,
    StreamEnded,
)
from deskhand.vncbridge.websocket.tunnel import until_one_ends

from .server_connection import ServerConnection
from .viewers import PRIVATE, Viewers, ViewerSession, viewer_identity

READ_SIZE = 16 * 1024
"""Bytes of a client that are read at once: the next are read when others had their turn."""
SUBPROTOCOL = "binary"
PROTOCOL_ERROR = 1002
PATIENCE = 30.0
"""Seconds."""


class Upstream(Protocol):
    """Where the RFB server is reached."""

    async def open(self) -> ServerConnection:
        """Open a fresh connection, one for each watcher.

        Raises:
            UpstreamUnavailable: If the RFB server cannot be reached.
            BridgeError: If there is no desktop and none could be started.
        """
        ...


class UnixUpstream:
    """The RFB server behind a unix socket."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def open(self) -> ServerConnection:
        """Open a fresh connection."""
        return await ServerConnection.to(self._path)


def router(
    upstream: Upstream,
    closing: Callable[[], bool],
    watchers: Viewers,
    stuck_seconds: float = STUCK_SECONDS,
    patience: float = PATIENCE,
    desktop: str = "",
) -> APIRouter:
    """Return the route of the VNC stream.

    ``closing`` tells whether the service is about to end, ``patience`` is how long a client may
    stop in mid-sentence, ``desktop`` how credentials name this desktop. Serve it with
    `vncbridge.server.websocket_protocol.StreamProtocol` and without permessage-deflate.
    """
    routes = APIRouter()

    @routes.websocket("/api/v0/desktop/vnc")
    async def watch(websocket: WebSocket) -> None:
        if closing():
            return await _refuse(websocket, 503, "Desktop is shutting down.")
        if watchers.count >= watchers.most:
            detail = f"at most {watchers.most} may watch one desktop"
            return await _refuse(websocket, 429, "Too many watchers.", detail)
        principal = websocket.scope.get("state", {}).get("principal")
        who = viewer_identity(websocket.query_params, principal, desktop)
        if not watchers.control.may_see(who.key):
            return await _refuse(websocket, 409, PRIVATE.reason, code="human_in_control")
        with watchers.one_more():
            # Before the upgrade, so that a failure is an HTTP answer which every client can read.
            try:
                line = await upstream.open()
            except UpstreamUnavailable as error:
                return await _refuse(websocket, 500, "Failed to connect to VNC server.", str(error))
            except BridgeError as error:
                return await _refuse(websocket, 500, "Failed to start desktop session.", str(error))
            try:
                offered = websocket.scope["subprotocols"]
                await websocket.accept(SUBPROTOCOL if SUBPROTOCOL in offered else None)
                outlet = ClientStream(websocket, stuck_seconds)
                with watchers.seat(who, line.write) as seat:
                    farewell = await relay(outlet, line, seat, patience)
                await outlet.close(farewell)
            finally:
                await line.hang_up()

    return routes


async def relay(
    outlet: ClientStream, line: ServerConnection, seat: ViewerSession, patience: float = PATIENCE
) -> CloseReason:
    """Copy both ways until either side ends, or the seat is taken away; return why.

    Each direction reads again only when its last bytes were taken: a slow watcher slows only
    itself, and memory stays bounded.
    """

    async def to_watcher() -> NoReturn:
        try:
            while chunk := await line.read():
                await outlet.send(chunk)
        except OSError as error:
            raise _broken(error) from error
        raise StreamEnded(CloseReason(NORMAL, "The desktop ended the stream."))

    async def to_server() -> NoReturn:
        while True:
            await _pass_on(await _words(outlet, seat, patience), seat, line)

    async def banished() -> NoReturn:
        await seat.banished.wait()
        raise StreamEnded(PRIVATE)

    try:
        return await until_one_ends(to_watcher(), to_server(), banished())
    except ProtocolBroken as error:
        return CloseReason(PROTOCOL_ERROR, str(error))


async def _words(outlet: ClientStream, seat: ViewerSession, patience: float) -> bytes:
    try:
        async with asyncio.timeout(patience if seat.midway else None):
            message = await outlet.receive()
    except TimeoutError:
        reason = f"The rest of a message did not come for {patience:g} s."
        raise StreamEnded(CloseReason(PROTOCOL_ERROR, reason)) from None
    if isinstance(message, str):
        raise StreamEnded(NOT_BINARY)
    return message


async def _pass_on(words: bytes, seat: ViewerSession, line: ServerConnection) -> None:
    for start in range(0, len(words), READ_SIZE):
        seat.heard(words[start : start + READ_SIZE])
        try:
            await line.drain()
        except OSError as error:
            raise _broken(error) from error
        if len(words) > READ_SIZE:
            await asyncio.sleep(0)


def _broken(error: OSError) -> StreamEnded:
    return StreamEnded(CloseReason(BROKEN, f"The desktop's stream broke: {error.strerror}."))


async def _refuse(
    websocket: WebSocket, status: int, message: str, detail: str = "", code: str = ""
) -> None:
    told = {"message": message, "detail": detail, "code": code}
    body = {name: text for name, text in told.items() if text}
    await websocket.send_denial_response(JSONResponse(body, status))
