"""Server-sent events (WHATWG HTML, section 9.2), as every service sends them.

A stream begins with the response head and an optional opening. Then each event is sent as it
comes, and a comment after every ``heartbeat`` seconds without one. A stream ends

- with its events, or when the service sets ``closing``: the body is completed;
- when the client disconnects: nothing more is sent;
- with the credential of its request: ``vncbridge.auth.revocation`` cancels the response as soon as
  it has sent its head, recognized by the media type, and completes the body itself.

However it ends, the iterator of its events and its resource are closed before the response
returns, and it no longer counts against the limit.
"""

import asyncio
import json
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any, Protocol

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from deskhand.vncbridge.errors import ClientGone

from .disconnect import disconnected, run_unless

MEDIA_TYPE = "text/event-stream"
LIMIT = 128
HEARTBEAT_SECONDS = 15.0
HEARTBEAT = b": still here\n\n"
"""A comment. It keeps proxies from closing a quiet stream as idle."""
RETRY = b"retry: 2000\n\n"
"""Milliseconds that a browser waits before it connects again; sent first."""


class EventSource(Protocol):
    """An asynchronous iterator of formatted events, such as an asynchronous generator."""

    async def __anext__(self) -> bytes:
        """Return the next event; ``StopAsyncIteration`` ends the stream."""

    async def aclose(self) -> None:
        """Release what the iterator holds."""


class EventStreams:
    """The open streams of one kind: how many there may be, and when all of them end."""

    def __init__(
        self,
        closing: asyncio.Event | None = None,
        limit: int = LIMIT,
        heartbeat: float = HEARTBEAT_SECONDS,
        *,
        source: str = "",
    ) -> None:
        self.source = source
        """What distinguishes the ids of its events from those of other services, if it has to."""
        self.closing = closing or asyncio.Event()
        """Set when the service closes; ends all streams and those to come."""
        self.limit = limit
        self.heartbeat = heartbeat
        self.count = 0
        """Streams that are open."""

    @property
    def full(self) -> bool:
        """True if another stream would exceed the limit."""
        return self.count >= self.limit


class EventStreamResponse(Response):
    """A response that carries events until either side ends it.

    ``opening`` is sent before any event. ``resource`` is closed with the stream, even if the
    client disconnects before the first event and ``events`` has never begun to run.
    """

    media_type = MEDIA_TYPE

    def __init__(
        self,
        streams: EventStreams,
        events: EventSource,
        *,
        opening: bytes = b"",
        resource: AbstractContextManager[object] | None = None,
    ) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        # Starlette computed the length of an empty body, but the stream has no known length.
        del self.headers["content-length"]
        self._streams = streams
        self._events = events
        self._opening = opening
        self._resource = resource or nullcontext()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the client disconnects, the events end or the service closes."""
        self._streams.count += 1
        try:
            with self._resource, suppress(ClientGone):
                try:
                    await run_unless(self._send_all(send), disconnected(receive))
                finally:
                    await self._events.aclose()
        finally:
            self._streams.count -= 1

    async def _send_all(self, send: Send) -> None:
        next_event = asyncio.ensure_future(self._events.__anext__())
        closing = asyncio.create_task(self._streams.closing.wait())
        try:
            # Lets the iterator subscribe before the client learns that the stream is open: what
            # the client reads after that is no older than the first event.
            await asyncio.sleep(0)
            start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
            await send(start)
            if self._opening:
                await _send_piece(send, self._opening)
            while not closing.done():
                await asyncio.wait(
                    (next_event, closing),
                    timeout=self._streams.heartbeat,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                if next_event.done():
                    await _send_piece(send, next_event.result())
                    next_event = asyncio.ensure_future(self._events.__anext__())
                elif not closing.done():
                    await _send_piece(send, HEARTBEAT)
        except StopAsyncIteration:
            pass
        finally:
            for task in (next_event, closing):
                task.cancel()
            await asyncio.gather(next_event, closing, return_exceptions=True)
        await send({"type": "http.response.body", "body": b""})


def format_event(kind: str, data: Mapping[str, Any], event_id: str = "") -> bytes:
    """Return one event as it is sent; its data are one line of JSON.

    Raises:
        ValueError: If ``kind`` contains a line break, which would begin another field.
    """
    # Not fastapi.sse.format_sse_event: it writes the id after the data, and clients of this API
    # have always received the id first.
    if not kind.isprintable():
        raise ValueError(f"not a name of an event: {kind!r}")
    head = f"id: {event_id}\n" if event_id else ""
    # JSON escapes every line break, so the data cannot begin another field.
    line = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    # A window title may hold lone surrogates, which UTF-8 cannot encode.
    return f"{head}event: {kind}\ndata: {line}\n\n".encode("utf-8", "replace")


async def _send_piece(send: Send, piece: bytes) -> None:
    await send({"type": "http.response.body", "body": piece, "more_body": True})
