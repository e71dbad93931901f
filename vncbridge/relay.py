"""Carry RFB between watchers' WebSockets and the RFB server.

What the server says is passed on unread. What a client says is read by `vncbridge.rfb`, and only
what its seat allows reaches the server.
"""

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn, Protocol

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from starlette.websockets import WebSocket

from .errors import BridgeError, ProtocolBroken, UpstreamUnavailable
from .outlet import BROKEN, NORMAL, NOT_BINARY, STUCK_SECONDS, Farewell, Outlet, StreamEnded
from .pump import until_one_ends
from .seats import PRIVATE, Seat, Watchers, visitor

READ_SIZE = 1024 * 1024
SUBPROTOCOL = "binary"
PROTOCOL_ERROR = 1002
PATIENCE = 30.0
"""Seconds."""


class Upstream(Protocol):
    """Where the RFB server is reached."""

    async def open(self) -> tuple[StreamReader, StreamWriter]:
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

    async def open(self) -> tuple[StreamReader, StreamWriter]:
        """Open a fresh connection."""
        try:
            return await asyncio.open_unix_connection(self._path, limit=READ_SIZE)
        except OSError as error:
            raise UpstreamUnavailable(f"{self._path.name}: {error.strerror}") from error


def router(
    upstream: Upstream,
    closing: Callable[[], bool],
    watchers: Watchers,
    stuck_seconds: float = STUCK_SECONDS,
    patience: float = PATIENCE,
) -> APIRouter:
    """Return the route of the VNC stream.

    ``closing`` tells whether the service is about to end, ``patience`` is how long a client may
    stop in mid-sentence. Serve it with `vncbridge.protocol.StreamProtocol` and without
    permessage-deflate.
    """
    routes = APIRouter()

    @routes.websocket("/api/v0/desktop/vnc")
    async def watch(websocket: WebSocket) -> None:
        if closing():
            return await _refuse(websocket, 503, "Desktop is shutting down.")
        if watchers.count >= watchers.most:
            detail = f"at most {watchers.most} may watch one desktop"
            return await _refuse(websocket, 429, "Too many watchers.", detail)
        who = visitor(websocket.query_params, websocket.scope.get("state", {}).get("principal"))
        if not watchers.control.may_see(who.key):
            return await _refuse(websocket, 409, PRIVATE.reason, code="human_in_control")
        with watchers.one_more():
            # Before the upgrade, so that a failure is an HTTP answer which every client can read.
            try:
                reader, writer = await upstream.open()
            except UpstreamUnavailable as error:
                return await _refuse(websocket, 500, "Failed to connect to VNC server.", str(error))
            except BridgeError as error:
                return await _refuse(websocket, 500, "Failed to start desktop session.", str(error))
            try:
                offered = websocket.scope["subprotocols"]
                await websocket.accept(SUBPROTOCOL if SUBPROTOCOL in offered else None)
                outlet = Outlet(websocket, stuck_seconds)
                with watchers.seat(who, writer.write) as seat:
                    farewell = await relay(outlet, reader, writer, seat, patience)
                await outlet.close(farewell)
            finally:
                await _hang_up(writer)

    return routes


async def relay(
    outlet: Outlet,
    reader: StreamReader,
    writer: StreamWriter,
    seat: Seat,
    patience: float = PATIENCE,
) -> Farewell:
    """Copy both ways until either side ends, or the seat is taken away; return why.

    Each direction reads again only when its last bytes were taken: a slow watcher slows only
    itself, and memory stays bounded.
    """

    async def to_watcher() -> NoReturn:
        try:
            while chunk := await reader.read(READ_SIZE):
                await outlet.send(chunk)
        except OSError as error:
            raise _broken(error) from error
        raise StreamEnded(Farewell(NORMAL, "The desktop ended the stream."))

    async def to_server() -> NoReturn:
        while True:
            seat.heard(await _words(outlet, seat, patience))
            try:
                await writer.drain()
            except OSError as error:
                raise _broken(error) from error

    async def banished() -> NoReturn:
        await seat.banished.wait()
        raise StreamEnded(PRIVATE)

    try:
        return await until_one_ends(to_watcher(), to_server(), banished())
    except ProtocolBroken as error:
        return Farewell(PROTOCOL_ERROR, str(error))


async def _words(outlet: Outlet, seat: Seat, patience: float) -> bytes:
    try:
        async with asyncio.timeout(patience if seat.midway else None):
            message = await outlet.receive()
    except TimeoutError:
        reason = f"The rest of a message did not come for {patience:g} s."
        raise StreamEnded(Farewell(PROTOCOL_ERROR, reason)) from None
    if isinstance(message, str):
        raise StreamEnded(NOT_BINARY)
    return message


def _broken(error: OSError) -> StreamEnded:
    return StreamEnded(Farewell(BROKEN, f"The desktop's stream broke: {error.strerror}."))


async def _hang_up(writer: StreamWriter) -> None:
    """Close, but do not wait for a server that no longer reads."""
    writer.close()
    with suppress(OSError):
        try:
            async with asyncio.timeout(1):
                await writer.wait_closed()
        except TimeoutError:
            writer.transport.abort()


async def _refuse(
    websocket: WebSocket, status: int, message: str, detail: str = "", code: str = ""
) -> None:
    told = {"message": message, "detail": detail, "code": code}
    body = {name: text for name, text in told.items() if text}
    await websocket.send_denial_response(JSONResponse(body, status))
