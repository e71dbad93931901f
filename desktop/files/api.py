"""HTTP routes of the file core. All files are opened through a port."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import JSONResponse

from deskhand.desktop.fields import at_home
from deskhand.vncbridge.http.lazy_routes import LazyRoute, LazyRouter
from deskhand.vncbridge.http.sse import EventStreams

from . import schema
from .contents import FileWriter, Incoming, file_response
from .disk import absolute, translated_errors
from .errors import FileError, TooManyWatches
from .preconditions import condition_of
from .reading import no_lines
from .requests import (
    BadFileRequest,
    FileEdits,
    LinesQuery,
    Query,
    directory_parts,
    edit_request,
    lines_query,
    object_of,
)
from .search_query import SearchRequest, search_request
from .watch_api import MOST_WATCHES, ChangeStream, watch_response

Json = dict[str, Any]


class FileRoute(LazyRoute):
    """Translates errors of the file core into HTTP answers."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def refusing(request: Request) -> Response:
            try:
                return await handle(request)
            except FileError as error:
                raise HTTPException(error.status, _refusal(error)) from error

        return refusing


Touched = Callable[[Mapping[str, str], Sequence[str]], None]
"""Receives a request's headers and the paths that it changed."""

Answer = tuple[int, Json]
"""HTTP status and body."""


class AgentFiles(FileWriter, Protocol):
    """The files of the agent. All methods raise FileError; cancelling one changes no file halfway.

    Paths are absolute and normalized.
    """

    async def open(self, path: Path) -> BinaryIO:
        """Open a regular file for reading."""

    async def lines(self, query: LinesQuery) -> Json:
        """Return the answer with numbered lines."""

    async def listing(self, path: Path) -> Json:
        """Return the answer that lists a directory."""

    async def resolve(self, path: Path) -> str:
        """Return a path without symbolic links; parts that do not exist are kept."""

    async def search(self, request: SearchRequest) -> Json:
        """Return a page of matches. Cancelling ends the search."""

    async def watch(self, path: Path, *, recursive: bool) -> ChangeStream:
        """Observe a tree from now on."""

    async def edit(self, files: Sequence[FileEdits], *, diff: bool) -> list[Json]:
        """Edit files, all or none; return the path of each, with its diff if requested."""


class CallExecutor(Protocol):
    """Executes a change once for each tool call, however often its request arrives."""

    async def __call__(
        self,
        headers: Mapping[str, str],
        digest: str,
        act: Callable[[], Coroutine[Any, Any, Answer]],
    ) -> Answer:
        """Return the result of ``act``, now or earlier. ``digest`` identifies its input."""


async def every_time(
    headers: Mapping[str, str], digest: str, act: Callable[[], Coroutine[Any, Any, Answer]]
) -> Answer:
    """Execute a change on every request."""
    return await act()


def router(
    home: Callable[[], Path],
    files: AgentFiles,
    once: CallExecutor = every_time,
    touched: Touched = lambda headers, paths: None,
    watches: EventStreams | None = None,
    changing: asyncio.Lock | None = None,
) -> APIRouter:
    """Return the routes; ``home`` is ``~`` in paths, and the base of relative directory listings.

    ``touched`` receives the paths that a request has changed. ``changing`` is held during a change
    of content, also by other routers.
    """
    routes = LazyRouter(prefix="/api/v0", route_class=FileRoute, tags=["files"])
    _add_reads(routes, home, files)
    _add_searches(routes, home, files)
    _add_watches(routes, home, files, watches or EventStreams(limit=MOST_WATCHES))
    _add_changes(routes, once, home, files, touched, changing or asyncio.Lock())
    return routes


def _add_reads(routes: APIRouter, home: Callable[[], Path], files: AgentFiles) -> None:
    @routes.get("/read-file", response_class=Response, openapi_extra=schema.READ)
    async def read_file(request: Request) -> Response:
        """Return the bytes of a file, or a range of them."""
        query = Query(request.query_params, ("path", "offset", "limit"))
        name, offset, limit = (
            query.path("path", home()),
            query.number("offset", 0),
            query.number("limit", 0),
        )
        query.check()
        path = absolute(name)
        file = await files.open(path)
        return await asyncio.to_thread(file_response, file, path, offset, limit)

    @routes.get("/read-file-lines", openapi_extra=schema.READ_LINES)
    async def read_lines(request: Request) -> Json:
        """Return numbered lines of a text file; what is wrong with the file is in ``error``."""
        query = lines_query(request.query_params)
        try:
            return await files.lines(replace(query, path=at_home(query.path, home())))
        except FileError as error:
            return no_lines(str(error))

    @routes.post("/list-directory", openapi_extra=schema.LIST)
    async def list_directory(request: Request) -> Json:
        """List a directory, directories first."""
        query = Query(request.query_params, ("path",))
        query.check()
        if request.query_params.get("path"):
            path = absolute(query.path("path", home()), "directory path")
        else:
            parts, relativity = directory_parts(object_of(await request.body()))
            path = absolute(str(Path("/" if relativity == "root" else home(), *parts)))
        return await files.listing(path)

    @routes.get("/resolve-path", openapi_extra=schema.RESOLVE)
    async def resolve_path(request: Request) -> Json:
        """Follow all links of a path; parts that do not exist are kept."""
        query = Query(request.query_params, ("path",))
        path = query.path("path", home())
        query.check()
        return {"resolved_path": await files.resolve(absolute(path))}


def _add_searches(routes: APIRouter, home: Callable[[], Path], files: AgentFiles) -> None:
    @routes.post("/search", openapi_extra=schema.SEARCH)
    async def search_files(request: Request) -> Json:
        """Find lines by a regular expression, or files by a glob; what git ignores is left out."""
        asked = search_request(await request.body())
        return await files.search(replace(asked, path=at_home(asked.path, home())))


def _add_watches(
    routes: APIRouter, home: Callable[[], Path], files: AgentFiles, watches: EventStreams
) -> None:
    @routes.get("/watch", response_class=Response, openapi_extra=schema.WATCH)
    async def watch(request: Request) -> Response:
        """Send changes below a directory as server-sent events, after the event ``ready``."""
        query = Query(request.query_params, ("path", "recursive"))
        path = query.path("path", home())
        recursive = query.flag("recursive", default=True)
        query.check()
        if watches.full:
            raise TooManyWatches(watches.limit)
        return watch_response(await files.watch(absolute(path), recursive=recursive), watches)


def _add_changes(
    routes: APIRouter,
    once: CallExecutor,
    home: Callable[[], Path],
    files: AgentFiles,
    touched: Touched,
    changing: asyncio.Lock,
) -> None:
    # One lock for writes and edits: between the comparison of an old content and the rename of the
    # new one, no other request of this service may replace the file.
    @routes.post("/write-file", openapi_extra=schema.WRITE)
    async def write_file(request: Request) -> Response:
        """Replace a file by the request's body, all of it or nothing."""
        query = Query(request.query_params, ("path",))
        name = query.path("path", home())
        query.check()
        condition = condition_of(request.headers)
        async with AsyncExitStack() as stack:
            body = Incoming(name, stack, files, condition)
            with translated_errors(name):
                # The whole body is received before `once`: only its digest shows if the call is a
                # repetition. The lock is not held meanwhile, so that a slow upload delays no other
                # change.
                async for data in request.stream():
                    await body.take(data)

            async def write() -> Json:
                async with changing:
                    size = await body.commit()
                touched(request.headers, [str(absolute(name))])
                message = f"Successfully wrote to {name!r}."
                return {"message": message, "bytes": size, "sha256": body.content}

            return await answered(once, request, body.digest(), write)

    @routes.post("/edit-files", openapi_extra=schema.EDIT)
    async def edit_files(request: Request) -> Response:
        """Replace texts in files, all of them or none."""
        data = await request.body()

        async def edit() -> Json:
            asked = edit_request(data)
            edits = [replace(file, path=at_home(file.path, home())) for file in asked.files]
            # Serialized: concurrent edits of a file would lose one of them.
            async with changing:
                edited = await files.edit(edits, diff=asked.include_diff)
            paths = list(dict.fromkeys(str(absolute(file.path)) for file in edits))
            touched(request.headers, paths)
            answer: Json = {"message": f"Successfully edited {len(paths)} file(s)."}
            if asked.include_diff:
                answer["files"] = edited
            return answer

        return await answered(once, request, sha256(data).hexdigest(), edit)


async def answered(
    once: CallExecutor,
    request: Request,
    digest: str,
    act: Callable[[], Coroutine[Any, Any, Json]],
) -> Response:
    """Execute a change once for its tool call, and return the answer, that of an error too."""

    async def recorded() -> Answer:
        try:
            return 200, await act()
        except FileError as error:
            # Without a record, a repetition of a failed call could succeed later, although its
            # caller was informed of the failure already.
            return error.status, _refusal(error)

    status, body = await once(request.headers, digest, recorded)
    return JSONResponse(body, status)


def _refusal(error: FileError) -> Json:
    body: Json = {"message": str(error)}
    if isinstance(error, BadFileRequest):
        if error.detail:
            body["detail"] = error.detail
        if error.fields:
            body["validations"] = [
                {"field": name, "detail": what} for name, what in error.fields.items()
            ]
    return body
