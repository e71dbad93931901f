"""Responses with stored bytes, from this machine or a bucket, in the requested ranges."""

from collections.abc import AsyncIterator, Callable, Mapping

from fastapi import Request
from fastapi.responses import Response, StreamingResponse

from deskhand.vncbridge.http.file_response import unsatisfiable
from deskhand.vncbridge.http.ranges import Unsatisfiable, if_range_matches, parse_range, select

Read = Callable[[int, int], AsyncIterator[bytes]]
"""Yields the bytes from the first position up to, and without, the second."""


def drop_bad_range(request: Request, size: int, etag: str) -> Response | None:
    """Remove a ``Range`` header that RFC 9110 section 14.2 requires to be ignored.

    Return the response to a range of which no byte exists; None for all others, which
    ``FileResponse`` answers as it should. It also answers several ranges at once.
    """
    header = request.headers.get("range")
    if header is None or "," in header:
        return None
    try:
        if parse_range(header, size) is None:
            request.scope["headers"] = [h for h in request.scope["headers"] if h[0] != b"range"]
    except Unsatisfiable:
        if if_range_matches(request.headers.get("if-range"), etag):
            return unsatisfiable(size)
    return None


async def stored_response(
    request: Request, size: int, headers: Mapping[str, str], media_type: str, read: Read
) -> Response:
    """Return the response with all bytes, or the range that the request selects.

    Raises what ``read`` raises before its first bytes.
    """
    try:
        status, span, about = select(request.headers, size, headers["ETag"])
    except Unsatisfiable:
        return unsatisfiable(size)
    sent = {**headers, "Accept-Ranges": "bytes", **about}
    # An empty file has no first chunk, for which ``anext`` below would raise.
    if request.method == "HEAD" or span.start == span.end:
        return Response(status_code=status, headers=sent, media_type=media_type)
    chunks = read(*span)
    # Bytes that are missing must be noticed before a status is sent.
    first = await anext(chunks)
    return StreamingResponse(_all(first, chunks), status, sent, media_type)


async def _all(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for chunk in rest:
        yield chunk
