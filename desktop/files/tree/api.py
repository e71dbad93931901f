"""HTTP routes of trees of files: status, directories, additions to a file, removal."""

import asyncio
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from fastapi import APIRouter, Request, Response

from deskhand.desktop.files import schema
from deskhand.desktop.files.api import CallExecutor, FileRoute, Touched, answered, every_time
from deskhand.desktop.files.disk import absolute
from deskhand.desktop.files.errors import TooMuchContent
from deskhand.desktop.files.requests import Query
from deskhand.vncbridge.http.lazy_routes import LazyRouter

Json = dict[str, Any]
MOST_APPENDED = 16_777_216
"""Bytes that one request may append."""


class AgentTree(Protocol):
    """The agent's tree of files. All methods raise FileError; paths are absolute and normalized."""

    async def status(self, path: Path) -> Json:
        """Return the kind and the size of what a path leads to."""

    async def make_directory(self, path: Path) -> None:
        """Create a directory with its parents; one that exists is no error."""

    async def append(self, path: Path, data: bytes) -> None:
        """Extend a file, or create it with this content."""

    async def remove(self, path: Path, *, recursive: bool) -> None:
        """Remove a file, a link, or a directory: an empty one, unless ``recursive``."""


def router(
    home: Callable[[], Path],
    files: AgentTree,
    once: CallExecutor = every_time,
    touched: Touched = lambda headers, paths: None,
    changing: asyncio.Lock | None = None,
) -> APIRouter:
    """Return the routes: ``home`` is ``~``; changes hold ``changing``, here and in files."""
    routes = LazyRouter(prefix="/api/v0", route_class=FileRoute, tags=["files"])
    lock = changing or asyncio.Lock()

    @routes.get("/file-status", openapi_extra=schema.STATUS)
    async def read_file_status(request: Request) -> Json:
        """Return the kind of a path and its size in bytes; links are followed."""
        query = Query(request.query_params, ("path",))
        path = query.path("path", home())
        query.check()
        return await files.status(absolute(path))

    @routes.post("/make-directory", openapi_extra=schema.MAKE)
    async def make_directory(request: Request) -> Response:
        """Create a directory with its parents; one that exists is no error."""
        query = Query(request.query_params, ("path",))
        path = query.path("path", home())
        query.check()

        async def make() -> Json:
            await files.make_directory(absolute(path))
            return {"message": f"Successfully made {path!r}."}

        return await answered(once, request, _digest("make", path), make)

    @routes.post("/append-file", openapi_extra=schema.APPEND)
    async def append_file(request: Request) -> Response:
        """Extend a file by the request's body, at most 16 MiB; a missing file is created."""
        query = Query(request.query_params, ("path",))
        path = query.path("path", home())
        query.check()
        data = await _body(request)

        async def append() -> Json:
            async with lock:
                await files.append(absolute(path), data)
            touched(request.headers, [str(absolute(path))])
            return {"message": f"Successfully appended to {path!r}.", "bytes": len(data)}

        return await answered(once, request, _digest("append", path, data), append)

    @routes.post("/remove-path", openapi_extra=schema.REMOVE)
    async def remove_path(request: Request) -> Response:
        """Remove a file, a link or an empty directory; with ``recursive`` any directory."""
        query = Query(request.query_params, ("path", "recursive"))
        path, recursive = query.path("path", home()), query.flag("recursive")
        query.check()

        async def remove() -> Json:
            async with lock:
                await files.remove(absolute(path), recursive=recursive)
            touched(request.headers, [str(absolute(path))])
            return {"message": f"Successfully removed {path!r}."}

        return await answered(once, request, _digest("remove", path, bytes([recursive])), remove)

    return routes


def _digest(change: str, path: str, data: bytes = b"") -> str:
    # NUL, which no path contains, separates the parts.
    named = f"{change}\0{path}\0".encode("utf-8", "surrogateescape")
    return sha256(named + data).hexdigest()


async def _body(request: Request) -> bytes:
    data = bytearray()
    async for piece in request.stream():
        data += piece
        if len(data) > MOST_APPENDED:
            raise TooMuchContent(f"At most {MOST_APPENDED} bytes can be appended at once.")
    return bytes(data)
