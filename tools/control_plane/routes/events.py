"""Streams of events, which end when the service does."""

import asyncio
from collections.abc import Callable

from fastapi import APIRouter, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from deskhand.tools.control_plane.errors import TooManyStreams
from deskhand.tools.control_plane.event_format import HEARTBEAT, OPENING, event_bytes, last_seen
from deskhand.tools.control_plane.json_body import Json
from deskhand.tools.control_plane.ports import Chats, Events
from deskhand.vncbridge.errors import ClientGone
from deskhand.vncbridge.http.disconnect import client_left, unless

LIMIT = 128
HEARTBEAT_SECONDS = 15.0

EVENTS: dict[int | str, Json] = {
    200: {
        "description": "Events, until either side ends it.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}


class EventStreams:
    """All event streams of one service."""

    def __init__(
        self, closing: asyncio.Event, limit: int = LIMIT, heartbeat: float = HEARTBEAT_SECONDS
    ) -> None:
        self.closing = closing
        self.heartbeat = heartbeat
        self.limit = limit
        self._active: set[EventResponse] = set()

    @property
    def count(self) -> int:
        """How many are open."""
        return len(self._active)

    def open(self, subscribe: Callable[[], Events]) -> "EventResponse":
        """Return the response that carries events; it closes their iterator at its end.

        Raises:
            TooManyStreams: If as many as may be are open.
        """
        if self.count >= self.limit:
            raise TooManyStreams(self.limit)
        return EventResponse(self, subscribe())

    def enter(self, response: "EventResponse") -> None:
        """Count a stream."""
        self._active.add(response)

    def leave(self, response: "EventResponse") -> None:
        """Count it no more."""
        self._active.discard(response)


class EventResponse(Response):
    """Events as they happen, and a comment when there are none for a while."""

    media_type = "text/event-stream"

    def __init__(self, streams: EventStreams, events: Events) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._streams = streams
        self._events = events

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the client leaves, the events end or the service closes."""
        self._streams.enter(self)
        try:
            await unless(client_left(receive), self._send_all(send))
        except ClientGone:
            pass
        finally:
            self._streams.leave(self)

    async def _send_all(self, send: Send) -> None:
        next_event = asyncio.ensure_future(self._events.__anext__())
        closing = asyncio.create_task(self._streams.closing.wait())
        try:
            # Lets the iterator subscribe before the client learns that the stream is open: what
            # the client reads after that is no older than the first event.
            await asyncio.sleep(0)
            start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
            await send(start)
            await _send_piece(send, OPENING)
            while not closing.done():
                waiting = {next_event, closing}
                await asyncio.wait(
                    waiting,
                    timeout=self._streams.heartbeat,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                if next_event.done():
                    await _send_piece(send, event_bytes(next_event.result()))
                    next_event = asyncio.ensure_future(self._events.__anext__())
                elif not closing.done():
                    await _send_piece(send, HEARTBEAT)
        except StopAsyncIteration:
            pass
        finally:
            for task in (next_event, closing):
                task.cancel()
            await asyncio.gather(next_event, closing, return_exceptions=True)
            await self._events.aclose()
        await send({"type": "http.response.body", "body": b""})


async def _send_piece(send: Send, piece: bytes) -> None:
    await send({"type": "http.response.body", "body": piece, "more_body": True})


def router(chats: Chats, streams: EventStreams) -> APIRouter:
    """Return the route of the events of all chats."""
    made = APIRouter(tags=["events"])

    @made.get("/api/v0/events", response_class=Response, responses=EVENTS)
    async def events(request: Request) -> Response:
        """Stream what happens to any chat from now on (server-sent events)."""
        after = last_seen(request.headers.get("last-event-id"))
        return streams.open(lambda: chats.events(None, after))

    return made
