"""The route by which events are listened to, as server-sent events."""

import asyncio
import json
from typing import Any

from fastapi import APIRouter, HTTPException, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from .bus import DesktopEvent, EventBus, EventSubscription

LIMIT = 128
HEARTBEAT_SECONDS = 15.0
OPENING = b"retry: 2000\n\n"
"""Sent first: how many milliseconds a browser waits before it connects again."""
HEARTBEAT = b": still here\n\n"
"""A comment, so that nothing between us takes a quiet stream for a dead one."""

_LONGEST_NUMBER = 18


def router(events: EventBus, limit: int = LIMIT, heartbeat: float = HEARTBEAT_SECONDS) -> APIRouter:
    """Return the route of one desktop's events."""
    routes = APIRouter(prefix="/api/v0/desktop", tags=["desktop"])
    streams: set[EventStreamResponse] = set()

    @routes.get("/events", response_class=Response, responses=_ANSWERS)
    async def listen(request: Request) -> Response:
        """Stream what happens on the desktop from now on, or since `Last-Event-ID`."""
        if len(streams) >= limit:
            detail = f"at most {limit} may listen to one desktop"
            raise HTTPException(429, {"message": "Too many event streams.", "detail": detail})
        after = number_of(request.headers.get("last-event-id", ""), events.boot)
        stream = EventStreamResponse(events.subscribe(after), events.boot, heartbeat, streams)
        streams.add(stream)
        return stream

    return routes


class EventStreamResponse(Response):
    """Events as they happen, and a comment when there are none for a while."""

    media_type = "text/event-stream"

    def __init__(
        self,
        subscription: EventSubscription,
        boot: str,
        heartbeat: float,
        streams: "set[EventStreamResponse]",
    ) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._subscription = subscription
        self._boot = boot
        self._heartbeat = heartbeat
        self._streams = streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the client leaves or the bus is closed; what goes wrong is raised."""
        sending = asyncio.create_task(self._send_all(send), name="events")
        leaving = asyncio.create_task(_left(receive), name="disconnect")
        try:
            done, _ = await asyncio.wait((sending, leaving), return_when=asyncio.FIRST_COMPLETED)
            done.pop().result()
        finally:
            sending.cancel()
            leaving.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)
            self._subscription.close()
            self._streams.discard(self)

    async def _send_all(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        await _send_piece(send, OPENING)
        while not self._subscription.ended:
            event = await self._subscription.next(self._heartbeat)
            if event is not None:
                await _send_piece(send, event_bytes(event, self._boot))
            elif not self._subscription.ended:
                await _send_piece(send, HEARTBEAT)
        await send({"type": "http.response.body", "body": b""})


def event_bytes(event: DesktopEvent, boot: str) -> bytes:
    """Return one event as it goes over the wire.

    Raises:
        ValueError: If the kind has a line break: it would begin another field.
    """
    if not event.kind.isprintable():
        raise ValueError(f"not a name of an event: {event.kind!r}")
    name = f"{boot}-{event.number}"
    told = {"id": name, "kind": event.kind, "at": round(event.at, 3), "data": event.data}
    # JSON escapes every line break, so that the data is always one line.
    line = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
    return f"id: {name}\nevent: {event.kind}\ndata: {line}\n\n".encode("utf-8", "replace")


def number_of(last_event_id: str, boot: str) -> int | None:
    """Return the number of the last event that a returning listener had; -1 for another bus's."""
    if not last_event_id:
        return None
    mark, _, number = last_event_id.rpartition("-")
    if mark != boot or not (number.isascii() and number.isdigit()):
        return -1
    return int(number) if len(number) <= _LONGEST_NUMBER else -1


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _send_piece(send: Send, piece: bytes) -> None:
    await send({"type": "http.response.body", "body": piece, "more_body": True})


_ANSWERS: dict[int | str, Any] = {
    200: {"description": "Events.", "content": {"text/event-stream": {}}},
    429: {"description": "Too many listen already."},
}
