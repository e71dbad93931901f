"""Responses with the bytes of a file: all of them, a range, or none if the client has them.

A file is opened before its headers are made, so its length and its tag are those of the bytes
that follow, even if another file takes its name meanwhile.
"""

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from email.utils import formatdate
from pathlib import Path
from typing import Any, BinaryIO

from anyio import to_thread
from fastapi import Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from starlette.types import Receive, Scope, Send

from .etags import matches
from .ranges import Span, Unsatisfiable, select

Json = dict[str, Any]

CHUNK = 256 * 1024
"""Bytes of one response that are in memory at a time."""

SAFE = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""For bytes that an agent, or a page it visited, may have made: a browser must not run them."""


def openapi_responses(media_type: str, *, in_ranges: bool = True) -> dict[int | str, Json]:
    """Return the responses of a route that sends bytes, for the OpenAPI document."""
    content = {media_type: {"schema": {"type": "string", "format": "binary"}}}
    found: dict[int | str, Json] = {
        200: {"description": "All of it.", "content": content},
        304: {"description": "The caller has it already."},
    }
    if in_ranges:
        found[206] = {"description": "The range that was asked for.", "content": content}
        found[416] = {"description": "There is nothing of that range."}
    return found


async def file_response(
    request: Request, path: Path, media_type: str, name: str, most: int | None = None
) -> Response:
    """Return the response to a GET or a HEAD of a file; ``most`` as in `open_file_response`.

    Raises:
        FileNotFoundError: If the file does not exist any more.
    """
    file = await to_thread.run_sync(open, path, "rb")
    return open_file_response(request, file, media_type, name, most=most)


def bytes_response(request: Request, content: bytes, media_type: str) -> Response:
    """Return the response to a GET or a HEAD of a short content."""
    etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    headers = SAFE | {"ETag": etag, "Cache-Control": "private, no-cache"}
    if matches(request.headers.get("if-none-match"), etag):
        return Response(status_code=304, headers=headers)
    headers["Content-Length"] = str(len(content))
    return Response(b"" if request.method == "HEAD" else content, 200, headers, media_type)


def unchanged_response(request: Request, name: str, tag: str) -> Response | None:
    """Return the 304 for a client that has the content ``tag`` already, else ``None``.

    For a content that is made at each request: it need not be made.
    """
    headers = _file_headers(f'"{tag}"', name)
    if matches(request.headers.get("if-none-match"), headers["ETag"]):
        return Response(status_code=304, headers=headers)
    return None


def open_file_response(
    request: Request,
    file: BinaryIO,
    media_type: str,
    name: str,
    tag: str = "",
    most: int | None = None,
) -> Response:
    """Return the response with an open file, which is closed when that is sent.

    ``tag`` identifies the content; by default inode, time and size do. With ``most``, the content
    is no more than the first so many bytes of the file.
    """
    facts = os.fstat(file.fileno())
    size = facts.st_size if most is None else min(facts.st_size, most)
    etag = f'"{tag or f"{facts.st_ino:x}-{facts.st_mtime_ns:x}-{size:x}"}"'
    modified = formatdate(facts.st_mtime, usegmt=True)
    headers = _file_headers(etag, name)
    # The time of a file is not that of its content if ``tag`` names the content.
    if not tag:
        headers["Last-Modified"] = modified
    if matches(request.headers.get("if-none-match"), etag):
        file.close()
        return Response(status_code=304, headers=headers)
    try:
        # ``If-None-Match`` was evaluated before: RFC 9110 section 13.2.2 defines that order.
        status, span, about = select(request.headers, size, etag, modified)
    except Unsatisfiable:
        file.close()
        return unsatisfiable(size, SAFE)
    headers |= about
    if request.method == "HEAD":
        file.close()
        return Response(status_code=status, headers=headers, media_type=media_type)
    return SpanResponse(file, span, status, headers, media_type)


def unsatisfiable(size: int, headers: Mapping[str, str] | None = None) -> Response:
    """Return the response to a range of which no byte exists."""
    beyond = {**(headers or {}), "Content-Range": f"bytes */{size}"}
    return JSONResponse({"message": "Range not satisfiable."}, 416, beyond)


def _file_headers(etag: str, name: str) -> dict[str, str]:
    return SAFE | {
        "Accept-Ranges": "bytes",
        "ETag": etag,
        "Cache-Control": "private, no-cache",
        "Content-Disposition": f'inline; filename="{name}"',
    }


class SpanResponse(StreamingResponse):
    """Some bytes of an open file, which is closed even if the client disconnects before them.

    ``resource`` is closed in the place of the file.
    """

    def __init__(
        self,
        file: BinaryIO,
        span: Span,
        status: int,
        headers: Mapping[str, str],
        media_type: str,
        resource: AbstractContextManager[object] | None = None,
        chunk_size: int = CHUNK,
    ) -> None:
        super().__init__(_bytes(file, span, chunk_size), status, headers, media_type)
        self._resource = resource or file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the bytes until the client disconnects."""
        with self._resource:
            await super().__call__(scope, receive, send)


def _bytes(file: BinaryIO, span: Span, chunk_size: int) -> Iterator[bytes]:
    file.seek(span.start)
    left = span.end - span.start
    # A file may grow after its length was announced: never send more.
    while left and (chunk := file.read(min(chunk_size, left))):
        left -= len(chunk)
        yield chunk
