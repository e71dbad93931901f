"""One real service over the process and file routers, in a thread of the test process."""

import asyncio
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import httpx2
import uvicorn
from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import JSONResponse

from deskhand.desktop.agent_helper.agent_helper import AgentHelper
from deskhand.desktop.agent_helper.files import HelperFiles
from deskhand.desktop.agent_helper.outputs import HelperOutputs
from deskhand.desktop.files import api as files_api
from deskhand.desktop.files.tree import api as tree_api
from deskhand.desktop.git.touched_paths import PathStore
from deskhand.desktop.lease.access import UnrestrictedAccess
from deskhand.desktop.processes import api as processes_api
from deskhand.desktop.processes.registry import ProcessSettings, Registry
from deskhand.desktop.uploads import api as uploads_api
from deskhand.vncbridge.http.add_routes import add_routes
from tests.desktop.agent_helper.threaded import Threaded

LIMIT = 20.0
"""Seconds after which a test that waits for something gives up."""


class FakeSurroundings:
    """Surroundings that a test may change between two starts."""

    def __init__(self, home: Path) -> None:
        self.base = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(home)}
        self.extra: dict[str, str] = {}
        self.directory: Path | None = None

    def environment(self) -> dict[str, str]:
        return self.base | self.extra

    def workdir(self) -> Path | None:
        return self.directory


class FakeClock:
    """A clock that runs, and that a test may put forward."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self.ahead


class Service:
    """The parts of a running service that a test uses."""

    def __init__(self, home: Path, settings: ProcessSettings | None = None) -> None:
        self.home = home
        self.command_environment = FakeSurroundings(home)
        self.clock = FakeClock()
        self.paths = PathStore()
        self.settings = settings or ProcessSettings(close_grace=0.2)
        self.registry: Registry | None = None
        self.client = httpx2.Client()
        self.socket: Path | None = None
        self.loop: asyncio.AbstractEventLoop | None = None

    def request(self, method: str, path: str, **options: Any) -> httpx2.Response:
        return self.client.request(method, path, timeout=LIMIT + 10, **options)

    def close_registry(self) -> None:
        """End every process, as the service does when it goes down."""
        assert self.registry is not None
        assert self.loop is not None
        asyncio.run_coroutine_threadsafe(self.registry.close(), self.loop).result(LIMIT)


class TellingServer(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, up: threading.Event) -> None:
        super().__init__(config)
        self.up = up

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.up.set()


def application(registry: Registry, home: Path, paths: PathStore, files: HelperFiles) -> FastAPI:
    app = FastAPI()
    add_routes(app, processes_api.router(registry))
    touched = processes_api.touched(paths.note)
    once = processes_api.once(registry)
    add_routes(app, files_api.router(lambda: home, files, once, touched=touched))
    add_routes(app, tree_api.router(lambda: home, files, once, touched))
    uploads = uploads_api.router(lambda: home, files, UnrestrictedAccess(), asyncio.Lock())
    add_routes(app, uploads)

    async def refused(_: Request, error: Exception) -> Response:
        refusal = cast(HTTPException, error)
        return JSONResponse(refusal.detail, refusal.status_code)

    app.add_exception_handler(HTTPException, refused)
    return app


@contextmanager
def running(settings: ProcessSettings | None = None) -> Iterator[Service]:
    with tempfile.TemporaryDirectory(prefix="core-") as folder:
        home = Path(folder) / "home"
        home.mkdir()
        service = Service(home, settings)
        listener = socket.socket(socket.AF_UNIX)
        service.socket = Path(folder) / "api.sock"
        listener.bind(str(service.socket))
        started = threading.Event()
        stop = threading.Event()
        failures: list[BaseException] = []

        async def serve() -> None:
            service.loop = asyncio.get_running_loop()
            async with (
                AgentHelper(Threaded()) as helper,
                Registry(
                    service.command_environment,
                    service.settings,
                    clock=service.clock,
                    touched=service.paths.note,
                    copies=HelperOutputs(helper),
                ) as registry,
            ):
                service.registry = registry
                app = application(registry, home, service.paths, HelperFiles(helper))
                config = uvicorn.Config(app, log_level="warning", lifespan="off")
                server = TellingServer(config, started)
                serving = asyncio.create_task(server.serve(sockets=[listener]))
                await asyncio.to_thread(stop.wait)
                await registry.close()
                server.should_exit = True
                await serving

        def work() -> None:
            try:
                asyncio.run(serve())
            except BaseException as error:  # noqa: BLE001 -- handed to the test's thread
                failures.append(error)
            finally:
                started.set()

        thread = threading.Thread(target=work)
        thread.start()
        transport = httpx2.HTTPTransport(uds=str(service.socket))
        service.client.close()
        with httpx2.Client(transport=transport, base_url="http://core") as client:
            service.client = client
            try:
                assert started.wait(LIMIT)
                yield service
            finally:
                stop.set()
                thread.join(LIMIT)
        if failures:
            raise failures[0]
