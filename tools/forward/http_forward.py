"""Forwarding of HTTP and WebSockets of a dialect, as bytes behind a rewritten head."""

import asyncio

from .request_head import END, LONGEST_HEAD, DialectRoute, HeadRefused, rewritten
from .upstream import Upstream

CHUNK = 64 * 1024


class HttpForward:
    """Passes each connection's request on to a service."""

    def __init__(self, upstream: Upstream, route: DialectRoute) -> None:
        self._upstream = upstream
        self._route = route

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass the request of one connection on, and its answer back."""
        try:
            head = rewritten(await _head(reader), self._route)
        except HeadRefused as refused:
            writer.write(refused.response())
            await writer.drain()
            return
        upstream, onward = await self._upstream.open()
        try:
            onward.write(head)
            await _both_ways((reader, onward), (upstream, writer))
        finally:
            onward.close()


async def _head(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(END)
    except asyncio.LimitOverrunError:
        raise HeadRefused(431, f"The head of a request has {LONGEST_HEAD} bytes at most.") from None
    except asyncio.IncompleteReadError as cut:
        raise HeadRefused(400, "The head of the request is incomplete.") from cut


async def _both_ways(
    *ways: tuple[asyncio.StreamReader, asyncio.StreamWriter],
) -> None:
    """Copy both ways; the end of the answer ends both, that of the request only its own way."""
    to_service, to_client = (asyncio.create_task(_copy(*way)) for way in ways)
    try:
        await to_client
    finally:
        to_service.cancel()
        to_client.cancel()
        await asyncio.gather(to_service, to_client, return_exceptions=True)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while chunk := await reader.read(CHUNK):
        writer.write(chunk)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()
