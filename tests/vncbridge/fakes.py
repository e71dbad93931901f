"""A small RFB-shaped server, and our service around the relay, on real sockets."""

import asyncio
import socket
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import uvicorn
from fastapi import APIRouter, FastAPI

from deskhand.vncbridge.http.add_routes import add_routes
from deskhand.vncbridge.server.websocket_protocol import StreamProtocol

LIMIT = 20.0
"""Longest time any test waits, in seconds."""

Behaviour = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@contextmanager
def short_folder() -> Iterator[Path]:
    """A folder whose sockets have names short enough to be bound."""
    with tempfile.TemporaryDirectory(prefix="dh-") as name:
        yield Path(name)


@asynccontextmanager
async def rfb_server(path: Path, behaviour: Behaviour) -> AsyncIterator[Path]:
    """Serve ``behaviour`` on a unix socket; every connection is closed at the end."""
    handlers: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        handlers.add(task)
        try:
            await behaviour(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()
            handlers.discard(task)

    server = await asyncio.start_unix_server(serve, path)
    try:
        yield path
    finally:
        server.close()
        for task in tuple(handlers):
            task.cancel()
        await asyncio.gather(*handlers, return_exceptions=True)


class Service:
    """uvicorn with the given routes, as the desktop service runs it."""

    def __init__(
        self,
        *routers: APIRouter,
        ping_seconds: tuple[float, float] = (20, 20),
        port: int = 0,
        protocol: type[StreamProtocol] = StreamProtocol,
    ) -> None:
        app = FastAPI()
        add_routes(app, *routers)
        self._socket = socket.create_server(("127.0.0.1", port))
        self.port: int = self._socket.getsockname()[1]
        config = uvicorn.Config(
            app,
            ws=protocol,
            ws_per_message_deflate=False,
            ws_ping_interval=ping_seconds[0],
            ws_ping_timeout=ping_seconds[1],
            log_level="warning",
            lifespan="off",
            timeout_graceful_shutdown=5,
        )
        self._server = uvicorn.Server(config)
        self._task: asyncio.Task[None] | None = None

    @property
    def stream(self) -> str:
        """Address of the VNC stream."""
        return f"ws://127.0.0.1:{self.port}/api/v0/desktop/vnc"

    @property
    def url(self) -> str:
        """Address of the service."""
        return f"http://127.0.0.1:{self.port}"

    async def stop(self) -> None:
        """End as on SIGTERM."""
        self._server.should_exit = True
        if self._task is not None:
            await self._task

    async def __aenter__(self) -> "Service":
        self._task = asyncio.create_task(self._server.serve(sockets=[self._socket]))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()
        self._socket.close()
