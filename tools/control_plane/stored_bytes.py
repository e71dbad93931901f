"""Answers made of stored bytes, here or elsewhere, in the ranges that players ask for."""

from collections.abc import AsyncIterator, Callable, Mapping

from fastapi import Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

from deskhand.vncbridge.http.ranges import Span, Unsatisfiable, still_valid, wanted

Read = Callable[[int, int], AsyncIterator[bytes]]
"""Gives the bytes from the first position up to, and without, the second."""


def only_readable(request: Request, size: int, etag: str) -> Response | None:
    """Take away a range that is none, as RFC 9110 section 14.2 wants it ignored.

    An answer to one of which there is nothing.
    """
    asked = request.headers.get("range")
    if asked is None or "," in asked:
        return None
    try:
        if wanted(asked, size) is None:
            request.scope["headers"] = [h for h in request.scope["headers"] if h[0] != b"range"]
    except Unsatisfiable:
        if still_valid(request.headers.get("if-range"), etag, etag):
            return _beyond(size)
    return None


async def answered(
    request: Request, size: int, headers: Mapping[str, str], media_type: str, read: Read
) -> Response:
    """Return the bytes, or those of them that the request wants.

    Raises what ``read`` raises before its first bytes.
    """
    etag = headers["ETag"]
    valid = still_valid(request.headers.get("if-range"), etag, etag)
    try:
        span = wanted(request.headers.get("range") if valid else None, size)
    except Unsatisfiable:
        return _beyond(size)
    shown = span or Span(0, size)
    told = {
        **headers,
        "Accept-Ranges": "bytes",
        "Content-Length": str(shown.end - shown.start),
    }
    if span is not None:
        told["Content-Range"] = f"bytes {span.start}-{span.end - 1}/{size}"
    status = 200 if span is None else 206
    if request.method == "HEAD" or shown.start == shown.end:
        return Response(status_code=status, headers=told, media_type=media_type)
    chunks = read(*shown)
    # Whether there are any bytes must be known before a status is sent.
    first = await anext(chunks)
    return StreamingResponse(_all(first, chunks), status, told, media_type)


def _beyond(size: int) -> Response:
    beyond = {"Content-Range": f"bytes */{size}"}
    return JSONResponse({"message": "Range not satisfiable."}, 416, beyond)


async def _all(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for chunk in rest:
        yield chunk
