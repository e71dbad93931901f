"""HTTP routes of the file core. Whatever touches the disk runs in a thread."""

import asyncio
import mimetypes
import os
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import StreamingResponse
from fastapi.routing import APIRoute

from .batch import edit_all
from .disk import CHUNK, Replacement, absolute, chunks, entries, opened, resolved, told
from .errors import FileError
from .lines import Bounds, Excerpt, LineReader, is_binary
from .requests import (
    BadRequest,
    LinesQuery,
    Query,
    directory_parts,
    edit_request,
    lines_query,
    object_of,
)

Json = dict[str, Any]

INLINE = ("image/png", "image/jpeg", "image/webp", "video/mp4", "text/vtt", "text/plain")
GUARDED = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""For bytes that an agent may have written: a browser must not run them."""


class _Route(APIRoute):
    """Turns what the core refuses into an HTTP answer."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def refusing(request: Request) -> Response:
            try:
                return await handle(request)
            except FileError as error:
                raise _refusal(error) from error

        return refusing


def router(home: Callable[[], Path]) -> APIRouter:
    """Return the routes; ``home`` is what relative directory listings begin at."""
    routes = APIRouter(prefix="/api/v0", route_class=_Route, tags=["files"])
    editing = asyncio.Lock()

    @routes.get("/read-file")
    async def read_file(request: Request) -> Response:
        """Return the bytes of a file, or a range of them."""
        query = Query(request.query_params, ("path", "offset", "limit"))
        path, offset, limit = (
            query.text("path"),
            query.number("offset", 0),
            query.number("limit", 0),
        )
        query.check()
        return await asyncio.to_thread(_bytes, absolute(path), offset, limit)

    @routes.get("/read-file-lines")
    async def read_lines(request: Request) -> Json:
        """Return numbered lines of a text file; what is wrong with the file is in ``error``."""
        query = lines_query(request.query_params)
        try:
            return await asyncio.to_thread(_lines, query)
        except FileError as error:
            return _no_lines(str(error))

    @routes.post("/write-file")
    async def write_file(request: Request) -> Json:
        """Replace a file by the request's body, all of it or nothing."""
        query = Query(request.query_params, ("path",))
        name = query.text("path")
        query.check()
        size = await _written(request, absolute(name))
        return {"message": f"Successfully wrote to {name!r}.", "bytes": size}

    @routes.post("/edit-files")
    async def edit_files(request: Request) -> Json:
        """Replace texts in files, all of them or none."""
        asked = edit_request(await request.body())
        # One after the other: two edits of a file at once would lose one of them.
        async with editing:
            results = await asyncio.to_thread(edit_all, asked.files)
        answer: Json = {"message": f"Successfully edited {len(results)} file(s)."}
        if asked.include_diff:
            diffs = await asyncio.to_thread(lambda: [r.diff() for r in results])
            answer["files"] = [
                {"path": r.path, "diff": diff} for r, diff in zip(results, diffs, strict=True)
            ]
        return answer

    @routes.post("/list-directory")
    async def list_directory(request: Request) -> Json:
        """List a directory, directories first."""
        query = Query(request.query_params, ("path",))
        query.check()
        if request.query_params.get("path"):
            path = absolute(query.text("path"), "directory path")
        else:
            parts, relativity = directory_parts(object_of(await request.body()))
            path = absolute(str(Path("/" if relativity == "root" else home(), *parts)))
        return await asyncio.to_thread(_listing, path)

    @routes.get("/resolve-path")
    async def resolve_path(request: Request) -> Json:
        """Follow all links of a path; parts that do not exist are kept."""
        query = Query(request.query_params, ("path",))
        path = query.text("path")
        query.check()
        real = await asyncio.to_thread(resolved, absolute(path))
        return {"resolved_path": _printable(str(real))}

    return routes


async def _written(request: Request, path: Path) -> int:
    size = 0
    with ExitStack() as stack:
        new = await asyncio.to_thread(stack.enter_context, Replacement(path))
        waiting = bytearray()
        with told(path):
            async for data in request.stream():
                waiting += data
                size += len(data)
                if len(waiting) >= CHUNK:
                    await asyncio.to_thread(new.write, bytes(waiting))
                    waiting.clear()
        await asyncio.to_thread(new.write, bytes(waiting))
        await asyncio.to_thread(new.commit)
    return size


def _bytes(path: Path, offset: int, limit: int) -> Response:
    with ExitStack() as stack:
        file = stack.enter_context(opened(path))
        size = os.fstat(file.fileno()).st_size
        length = max(size - offset, 0)
        if limit:
            length = min(length, limit)
        file.seek(min(offset, size))
        keep_open = stack.pop_all()

    def body() -> Iterator[bytes]:
        left = length
        with keep_open:
            while left and (data := file.read(min(left, CHUNK))):
                left -= len(data)
                yield data

    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    disposition = "inline" if kind in INLINE else "attachment"
    headers = GUARDED | {"Content-Length": str(length), "Content-Disposition": disposition}
    return StreamingResponse(body(), media_type=kind, headers=headers)


def _lines(query: LinesQuery) -> Json:
    path = absolute(query.path)
    with opened(path) as file, told(path):
        size = os.fstat(file.fileno()).st_size
        if size > query.max_file_size and not (query.ranged or query.partial):
            return _no_lines(
                f"file size {size} bytes exceeds the maximum of {query.max_file_size} bytes: "
                "use offset and limit to read a range of lines",
                size,
            )
        reader = LineReader(query.offset, query.limit or 1 << 62, query.bounds)
        for number, chunk in enumerate(chunks(file)):
            if number == 0 and is_binary(chunk):
                return _no_lines(f"{query.path!r} is a binary file, {size} bytes", size)
            reader.feed(chunk)
    found = reader.finish()
    problem = _range_problem(query, found)
    if problem:
        return _no_lines(problem, size, found.total_lines)
    answer: Json = {
        "success": True,
        "file_size": size,
        "total_lines": found.total_lines,
        "lines_read": found.lines,
        "content": found.content,
    }
    if found.next_line is not None:
        answer["next_line"] = found.next_line
        answer["note"] = (
            f"Not all fits in one answer: continue at line {found.next_line} "
            f"of {found.total_lines} (offset={found.next_line})."
        )
    return answer


def _range_problem(query: LinesQuery, found: Excerpt) -> str | None:
    if query.offset > max(found.total_lines, 1):
        return f"offset {query.offset} is beyond the end: the file has {found.total_lines} lines"
    if query.partial or found.full is None:
        return None
    bounds: Bounds = query.bounds
    if found.full == "bytes":
        return (
            f"the answer would exceed {bounds.content_bytes} bytes: "
            "use a smaller limit, and offset to go on"
        )
    if query.limit:
        return f"the answer would exceed {bounds.lines} lines: use a smaller limit"
    return None


def _no_lines(error: str, size: int = 0, total: int = 0) -> Json:
    return {
        "success": False,
        "file_size": size,
        "total_lines": total,
        "lines_read": 0,
        "content": "",
        "error": error,
    }


def _listing(path: Path) -> Json:
    return {
        "absolute_path": [_printable(part) for part in path.parts[1:]],
        "absolute_path_string": _printable(str(path)),
        "contents": [
            {
                "name": _printable(entry.name),
                "absolute_path_string": _printable(str(entry.path)),
                "is_dir": entry.is_dir,
            }
            for entry in entries(path)
        ],
    }


def _printable(name: str) -> str:
    """Make a name that is no UTF-8 fit for JSON."""
    return os.fsencode(name).decode("utf-8", "replace")


def _refusal(error: FileError) -> HTTPException:
    detail: Json = {"message": str(error)}
    if isinstance(error, BadRequest):
        if error.detail:
            detail["detail"] = error.detail
        if error.fields:
            detail["validations"] = [
                {"field": name, "detail": what} for name, what in error.fields.items()
            ]
    return HTTPException(error.status, detail)
