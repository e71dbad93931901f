"""Route by which a person puts a file on the desktop.

The file becomes a download: it is written with the agent's rights into the folder that the browser
uses, under a name that is free there, and events report it. The page of the live view sends it
while it is in control, in privacy mode too; other callers need the right to act.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from deskhand.desktop.fields import known
from deskhand.desktop.files import schema
from deskhand.desktop.files.api import AgentFiles, FileRoute
from deskhand.desktop.files.contents import Incoming
from deskhand.desktop.files.preconditions import Condition
from deskhand.desktop.http_errors import answered
from deskhand.desktop.lease.access import AccessControl, acting
from deskhand.desktop.tool_calls.caller import caller_of
from deskhand.vncbridge.http.lazy_routes import LazyRouter

from .names import checked_name, free_name

FOLDER = "Downloads"
"""In the home of the desktop's user."""

_NEW = Condition(never=frozenset({"*"}))
"""Nothing is replaced."""


def router(
    home: Callable[[], Path], files: AgentFiles, access: AccessControl, changing: asyncio.Lock
) -> APIRouter:
    """Return the route; ``changing`` is held while a file is added."""
    routes = LazyRouter(prefix="/api/v0/desktop", route_class=FileRoute, tags=["desktop"])
    uploads = _Uploads(files, changing)

    @routes.post("/downloads", status_code=201, openapi_extra=schema.UPLOAD)
    async def add_download(request: Request) -> Response:
        """Store the request's body in the desktop's downloads, under a name that is free there."""
        with answered():
            known(request.query_params, ("name", "viewer"))
            name = checked_name(request.query_params.get("name", ""))
            viewer, chat = request.query_params.get("viewer"), caller_of(request.headers).chat_id
            with acting(access, viewer, chat):
                path, size = await uploads.store(home() / FOLDER, name, request.stream())
        body: dict[str, Any] = {"path": str(path), "name": path.name, "bytes": size}
        return JSONResponse(body, 201)

    return routes


class _Uploads:
    """Uploads at present, so that two of one name get two names."""

    def __init__(self, files: AgentFiles, changing: asyncio.Lock) -> None:
        self._files = files
        self._changing = changing
        self._pending: set[Path] = set()

    async def store(self, folder: Path, name: str, body: AsyncIterator[bytes]) -> tuple[Path, int]:
        """Write the body to a new file; return its path and its size in bytes."""
        async with AsyncExitStack() as stack:
            # An upload that ends meanwhile is in the listing, or still pending.
            async with self._changing:
                path = await self._reserve(folder, name, stack)
            incoming = Incoming(str(path), stack, self._files, _NEW)
            async for data in body:
                await incoming.take(data)
            async with self._changing:
                return path, await incoming.commit()

    async def _reserve(self, folder: Path, name: str, stack: AsyncExitStack) -> Path:
        listed = await self._files.listing(folder)
        taken = {str(entry["name"]) for entry in listed["contents"]}
        taken |= {path.name for path in self._pending if path.parent == folder}
        path = folder / free_name(name, taken)
        self._pending.add(path)
        stack.callback(self._pending.discard, path)
        return path
