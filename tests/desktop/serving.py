"""A real server for the tests of routes and clients."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import uvicorn
from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import JSONResponse

from deskhand.desktop.actions.catalog import ActionRecord
from deskhand.desktop.computer.api import router
from deskhand.desktop.computer.computer import Computer
from deskhand.desktop.tool_calls.once import OncePerCall
from deskhand.vncbridge.http.add_routes import add_routes
from tests.desktop.fakes import FakeClock, FakeInput, FakePictures, FakeScreen


class Service:
    """The routes over a computer of fakes."""

    def __init__(self, calls: Path | None = None, instance: str = "instance") -> None:
        self.clock = FakeClock()
        self.screen = FakeScreen(self.clock)
        self.input = FakeInput()
        self.records: list[ActionRecord] = []
        self.sleeping = asyncio.Event()
        self.woken = asyncio.Event()
        self.computer = Computer(
            self.screen,
            self.input,
            FakePictures(),
            self.records.append,
            instance_id=instance,
            boot="boot",
            queue=2,
            clock=self.clock,
            sleep=self._sleep,
        )
        self.once = OncePerCall(calls)
        self.app = FastAPI()
        self.closing = asyncio.Event()
        add_routes(
            self.app,
            router(
                *(self.computer, lambda: {"display": ":7"}, self.once),
                closing=self.closing,
            ),
        )
        self.app.add_exception_handler(HTTPException, _error)

    async def _sleep(self, seconds: float) -> None:
        self.sleeping.set()
        try:
            if seconds > 1:
                await asyncio.Event().wait()
            await self.clock.sleep(seconds)
        finally:
            self.woken.set()


async def _error(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return JSONResponse(error.detail, error.status_code, error.headers)


@contextmanager
def bound(folder: Path | None) -> Iterator[tuple[socket.socket, str]]:
    """A socket, and its address as the client takes it: unix in a folder, or loopback."""
    if folder is None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            yield server, f"http://127.0.0.1:{server.getsockname()[1]}"
    else:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(folder / "api.sock"))
            server.listen()
            yield server, f"unix:{folder / 'api.sock'}"


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()


@asynccontextmanager
async def serving(app: FastAPI, folder: Path | None = None) -> AsyncIterator[str]:
    """Serve an application; yield its address."""
    with bound(folder) as (listening, address):
        config = uvicorn.Config(app, log_level="warning", lifespan="off", ws="websockets-sansio")
        server = _Server(config)
        task = asyncio.create_task(server.serve(sockets=[listening]))
        await server.ready.wait()
        try:
            yield address
        finally:
            server.should_exit = True
            await task
