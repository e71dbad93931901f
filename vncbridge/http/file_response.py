"""Answers made of an open file: whole, in parts, or not at all if the caller has it.

The file is opened before anything is said of it, so its length and its tag are those of the very
bytes that follow, whatever takes its name in the meantime.
"""

import hashlib
import os
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path
from typing import Any, BinaryIO

from anyio import to_thread
from fastapi import Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from starlette.types import Receive, Scope, Send

from .ranges import Span, Unsatisfiable, has_already, still_valid, wanted

Json = dict[str, Any]

CHUNK = 256 * 1024
"""Bytes of one answer that are in memory at a time."""

# What a desktop shows may be anybody's: a browser must take these bytes for nothing but media.
SAFE = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def answers(media_type: str, *, in_ranges: bool = True) -> dict[int | str, Json]:
    """What a route that answers so says of its answers, for the OpenAPI document."""
    content = {media_type: {"schema": {"type": "string", "format": "binary"}}}
    found: dict[int | str, Json] = {
        200: {"description": "All of it.", "content": content},
        304: {"description": "The caller has it already."},
    }
    if in_ranges:
        found[206] = {"description": "The range that was asked for.", "content": content}
        found[416] = {"description": "There is nothing of that range."}
    return found


async def answer(request: Request, path: Path, media_type: str, name: str) -> Response:
    """A file as an answer to a GET or a HEAD.

    Raises:
        FileNotFoundError: If it is gone.
    """
    file = await to_thread.run_sync(open, path, "rb")
    return answered(request, file, media_type, name)


def said(request: Request, content: bytes, media_type: str) -> Response:
    """A short content as an answer to a GET or a HEAD."""
    etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    headers = SAFE | {"ETag": etag, "Cache-Control": "private, no-cache"}
    if has_already(request.headers.get("if-none-match"), etag):
        return Response(status_code=304, headers=headers)
    headers["Content-Length"] = str(len(content))
    return Response(b"" if request.method == "HEAD" else content, 200, headers, media_type)


def answered(
    request: Request, file: BinaryIO, media_type: str, name: str, tag: str = ""
) -> Response:
    """An open file as an answer; it is closed when that is sent.

    ``tag`` stands for its content, by default what the file system tells of it.
    """
    facts = os.fstat(file.fileno())
    etag = f'"{tag or f"{facts.st_ino:x}-{facts.st_mtime_ns:x}-{facts.st_size:x}"}"'
    modified = formatdate(facts.st_mtime, usegmt=True)
    headers = SAFE | {
        "Accept-Ranges": "bytes",
        "ETag": etag,
        "Cache-Control": "private, no-cache",
        "Content-Disposition": f'inline; filename="{name}"',
    }
    if not tag:
        headers["Last-Modified"] = modified
    if has_already(request.headers.get("if-none-match"), etag):
        file.close()
        return Response(status_code=304, headers=headers)
    asked = request.headers.get("range")
    if not still_valid(request.headers.get("if-range"), etag, modified):
        asked = None
    try:
        span = wanted(asked, facts.st_size)
    except Unsatisfiable:
        file.close()
        size = {"Content-Range": f"bytes */{facts.st_size}"}
        return JSONResponse({"message": "Range not satisfiable."}, 416, SAFE | size)
    shown = span or Span(0, facts.st_size)
    headers["Content-Length"] = str(shown.end - shown.start)
    if span is not None:
        headers["Content-Range"] = f"bytes {span.start}-{span.end - 1}/{facts.st_size}"
    status = 200 if span is None else 206
    if request.method == "HEAD":
        file.close()
        return Response(status_code=status, headers=headers, media_type=media_type)
    return _Sent(file, shown, status, headers, media_type)


class _Sent(StreamingResponse):
    """Some of an open file, which is closed also when the caller has gone away."""

    def __init__(
        self, file: BinaryIO, span: Span, status: int, headers: dict[str, str], media_type: str
    ) -> None:
        super().__init__(_bytes(file, span), status, headers, media_type)
        self._file = file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._file.close()


def _bytes(file: BinaryIO, span: Span) -> Iterator[bytes]:
    file.seek(span.start)
    left = span.end - span.start
    while left and (chunk := file.read(min(CHUNK, left))):
        left -= len(chunk)
        yield chunk
