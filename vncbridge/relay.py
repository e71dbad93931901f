"""Carry raw RFB between watchers' WebSockets and the RFB server."""

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn, Protocol

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from starlette.websockets import WebSocket

from .errors import BridgeError, UpstreamUnavailable
from .outlet import BROKEN, NORMAL, NOT_BINARY, STUCK_SECONDS, Farewell, Outlet, StreamEnded
from .pump import until_one_ends

READ_SIZE = 1024 * 1024
MOST_WATCHERS = 64
SUBPROTOCOL = "binary"


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


class Watchers:
    """Who watches one desktop now."""

    def __init__(self, most: int = MOST_WATCHERS) -> None:
        self._most = most
        self._count = 0

    @property
    def count(self) -> int:
        """How many are connected."""
        return self._count

    @property
    def most(self) -> int:
        """How many may be."""
        return self._most

    @contextmanager
    def one_more(self) -> Iterator[None]:
        """Count a watcher while the body runs."""
        self._count += 1
        try:
            yield
        finally:
            self._count -= 1


def router(
    upstream: Upstream,
    closing: Callable[[], bool],
    watchers: Watchers,
    stuck_seconds: float = STUCK_SECONDS,
) -> APIRouter:
    """Return the route of the VNC stream.

    ``closing`` tells whether the service is about to end. Serve it with
    `vncbridge.protocol.StreamProtocol` and without permessage-deflate.
    """
    routes = APIRouter()

    @routes.websocket("/api/v0/desktop/vnc")
    async def watch(websocket: WebSocket) -> None:
        if closing():
            return await _refuse(websocket, 503, "Desktop is shutting down.")
        if watchers.count >= watchers.most:
            detail = f"at most {watchers.most} may watch one desktop"
            return await _refuse(websocket, 429, "Too many watchers.", detail)
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
                await outlet.close(await relay(outlet, reader, writer))
            finally:
                await _hang_up(writer)

    return routes


async def relay(outlet: Outlet, reader: StreamReader, writer: StreamWriter) -> Farewell:
    """Copy bytes both ways until either side ends; return why.

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
            message = await outlet.receive()
            if isinstance(message, str):
                raise StreamEnded(NOT_BINARY)
            writer.write(message)
            try:
                await writer.drain()
            except OSError as error:
                raise _broken(error) from error

    return await until_one_ends(to_watcher(), to_server())


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


async def _refuse(websocket: WebSocket, status: int, message: str, detail: str = "") -> None:
    body = {"message": message, "detail": detail} if detail else {"message": message}
    await websocket.send_denial_response(JSONResponse(body, status))
