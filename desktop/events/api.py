"""The route that streams the events of a desktop as server-sent events."""

from collections.abc import AsyncGenerator
from typing import Any

from fastapi import APIRouter, HTTPException, Request
from starlette.responses import Response

from deskhand.vncbridge.http.lazy_routes import LazyRouter
from deskhand.vncbridge.http.sse import (
    HEARTBEAT_SECONDS,
    LIMIT,
    MEDIA_TYPE,
    RETRY,
    EventStreamResponse,
    EventStreams,
    format_event,
)

from .bus import DesktopEvent, EventBus, EventSubscription

_LONGEST_NUMBER = 18


def router(events: EventBus, limit: int = LIMIT, heartbeat: float = HEARTBEAT_SECONDS) -> APIRouter:
    """Return the route of one desktop's events."""
    routes = LazyRouter(prefix="/api/v0/desktop", tags=["desktop"])
    # The bus ends its subscriptions, and so the streams, when the service closes.
    streams = EventStreams(limit=limit, heartbeat=heartbeat)

    @routes.get("/events", response_class=Response, responses=_ANSWERS)
    async def listen(request: Request) -> Response:
        """Stream what happens on the desktop from now on, or since `Last-Event-ID`."""
        if streams.full:
            detail = f"at most {limit} may listen to one desktop"
            raise HTTPException(429, {"message": "Too many event streams.", "detail": detail})
        after = number_of(request.headers.get("last-event-id", ""), events.boot)
        subscription = events.subscribe(after)
        return EventStreamResponse(
            streams, _formatted(subscription, events.boot), opening=RETRY, resource=subscription
        )

    return routes


async def _formatted(subscription: EventSubscription, boot: str) -> AsyncGenerator[bytes, None]:
    while (event := await subscription.next()) is not None:
        yield event_bytes(event, boot)


def event_bytes(event: DesktopEvent, boot: str) -> bytes:
    """Return one event as it goes over the wire.

    Raises:
        ValueError: If the kind has a line break, which would begin another field.
    """
    name = f"{boot}-{event.number}"
    data = {"id": name, "kind": event.kind, "at": round(event.at, 3), "data": event.data}
    return format_event(event.kind, data, name)


def number_of(last_event_id: str, boot: str) -> int | None:
    """Return the number of the last event that a returning listener received.

    It is None for a new listener, and -1 for the event of another bus, such as the one before a
    restart.
    """
    if not last_event_id:
        return None
    bus, _, number = last_event_id.rpartition("-")
    if bus != boot or not (number.isascii() and number.isdigit()):
        return -1
    # `int` raises ValueError for more than 4300 digits.
    return int(number) if len(number) <= _LONGEST_NUMBER else -1


_ANSWERS: dict[int | str, Any] = {
    200: {"description": "Events.", "content": {MEDIA_TYPE: {}}},
    429: {"description": "Too many listen already."},
}
