"""What a service loads and reads before it is needed, or before it may be unable to.

Libraries load some of their parts at their first use, others by a request. That request, to an
unused application, is made while the X server starts, which this process waits for anyway. After
the change of user the files may be unreadable; modules are found by `held_modules` then.

A process does all of this once for itself and its copies, so that the fork server does it for all
desktops.
"""

import asyncio
import codecs
from collections.abc import AsyncIterator, Iterable, Iterator, MutableMapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from deskhand.desktop.agent_socket.client_files import PROGRAM, ClientFiles
from deskhand.desktop.computer.api import descriptions
from deskhand.desktop.display.session_files import ASSETS, SessionFiles
from deskhand.desktop.screenshots.placeholder import load_font
from deskhand.desktop.screenshots.renderer import load_codecs
from deskhand.desktop.settings import DEFAULT_SIZE, parse
from deskhand.desktop.x11.connection import load_types
from deskhand.vncbridge.server.server import Serving
from deskhand.vncbridge.viewer.pages import FOLDER as PAGES
from deskhand.vncbridge.viewer.pages import Assets

from .held_modules import hold_modules
from .late_modules import Dialect, load_dialects

Message = MutableMapping[str, Any]

_LIFESPAN = ({"type": "lifespan.startup"}, {"type": "lifespan.shutdown"})
_REQUEST = ({"type": "http.request", "body": b"", "more_body": False},)
# The version that uvicorn reports: by it Starlette chooses how it streams, here with anyio's task
# group, which has to be loaded.
_ASGI = {"version": "3.0", "spec_version": "2.3"}
_SCOPE: Message = {
    **{"asgi": _ASGI, "http_version": "1.1", "method": "GET", "scheme": "http", "headers": []},
    **{"path": "/", "raw_path": b"/", "root_path": "", "query_string": b"name=a"},
}


# `json.detect_encoding` chooses one of these by the first bytes of a body.
_ENCODINGS = ("utf-8-sig", "utf-16", "utf-16-be", "utf-16-le", "utf-32", "utf-32-be", "utf-32-le")


class _Body(BaseModel):
    name: str = ""


@dataclass(frozen=True)
class PackageFiles:
    """The package's files that are served, or copied for each session."""

    pages: Assets
    session: SessionFiles
    clients: ClientFiles


@cache
def package_files() -> PackageFiles:
    """Read the files of the package."""
    return PackageFiles(Assets(PAGES), SessionFiles.read(), ClientFiles.read())


def package_paths() -> list[Path]:
    """Return the files that are read besides modules."""
    return [*PAGES.rglob("*"), *ASSETS.iterdir(), PROGRAM]


@dataclass(frozen=True)
class Preloaded:
    """What may be unreadable after the change of user."""

    files: PackageFiles
    dialects: tuple[Dialect, ...]


def preload_all() -> None:
    """Do for all copies of this process what a service does before it is ready."""
    load_first_uses()
    warm_up()
    package_files()
    descriptions(DEFAULT_SIZE)
    parse(())


def preload(speak: Iterable[str]) -> Preloaded:
    """Read the package's files, and load what libraries load at their first use.

    ``speak`` are the dialects that are on.
    """
    load_first_uses()
    hold_modules()
    return Preloaded(package_files(), load_dialects(speak))


@cache
def load_first_uses() -> None:
    """Load what libraries read from disk at their first use."""
    load_codecs()
    load_font()
    load_types()
    Serving(FastAPI())


@cache
def warm_up() -> None:
    """Start an application, request a stream and its OpenAPI document, and shut it down.

    For a thread without an event loop.
    """
    asyncio.run(_warm_up())


async def _warm_up() -> None:
    for encoding in _ENCODINGS:
        codecs.lookup(encoding)
    app = FastAPI()

    @app.get("/")
    async def stream(name: str = "") -> StreamingResponse:
        return StreamingResponse(_stream(name))

    @app.post("/")
    async def post(body: _Body) -> None:
        pass

    app.openapi()
    await _call(app, "lifespan", iter(_LIFESPAN))
    await _call(app, "http", iter(_REQUEST))


async def _call(app: FastAPI, kind: str, messages: Iterator[Message]) -> None:
    async def receive() -> Message:
        for message in messages:
            return message
        # A streaming response reads on for `http.disconnect`. As with a client that stays
        # connected, no further message comes.
        never: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        return await never

    async def send(message: Message) -> None:
        pass

    await app({**_SCOPE, "type": kind, "state": {}}, receive, send)


async def _stream(name: str) -> AsyncIterator[bytes]:
    yield name.encode()
