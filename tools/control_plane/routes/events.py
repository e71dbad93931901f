"""Streams of the chats' events, which end when the service does."""

from collections.abc import Callable, Collection

from fastapi import APIRouter, Request
from starlette.responses import Response

from deskhand.tools.control_plane.errors import TooManyStreams
from deskhand.tools.control_plane.event_format import event_bytes, last_seen
from deskhand.tools.control_plane.json_body import Json
from deskhand.tools.control_plane.ports import Chats, Events
from deskhand.vncbridge.http.lazy_routes import LazyRouter
from deskhand.vncbridge.http.sse import (
    MEDIA_TYPE,
    RETRY,
    EventStreamResponse,
    EventStreams,
)

CONVERSATION_EVENTS = ("text", "message", "queue")
"""Kinds of the events with which a reader could follow a conversation."""

EVENTS: dict[int | str, Json] = {
    200: {
        "description": "Events, until either side ends it.",
        "content": {MEDIA_TYPE: {"schema": {"type": "string"}}},
    }
}


class _FormattedEvents:
    """The events of a subscription in their wire format."""

    # A class, not a generator: ``aclose`` of a generator that has not begun skips its ``finally``,
    # so that a client which left at once would leave its subscription behind.
    def __init__(self, events: Events, hidden: Collection[str], source: str) -> None:
        self._source = source
        self._events = events
        self._hidden = hidden

    async def __anext__(self) -> bytes:
        while (event := await self._events.__anext__()).kind in self._hidden:
            pass
        return event_bytes(event, self._source)

    async def aclose(self) -> None:
        await self._events.aclose()


def event_response(
    streams: EventStreams, subscribe: Callable[[], Events], hidden: Collection[str] = ()
) -> EventStreamResponse:
    """Return the response that streams events; it closes the subscription at its end.

    Events of the kinds ``hidden`` are left out.

    Raises:
        TooManyStreams: If the limit of open streams is reached.
    """
    # Checked before subscribing: a refused request must not leave a subscription behind.
    if streams.full:
        raise TooManyStreams(streams.limit)
    events = _FormattedEvents(subscribe(), hidden, streams.source)
    return EventStreamResponse(streams, events, opening=RETRY)


def router(chats: Chats, streams: EventStreams) -> APIRouter:
    """Return the route of the events of all chats."""
    routes = LazyRouter(tags=["events"])

    @routes.get("/api/v0/events", response_class=Response, responses=EVENTS)
    async def events(request: Request) -> Response:
        """Stream what happens to any chat from now on (server-sent events)."""
        after = last_seen(request.headers.get("last-event-id"), streams.source)
        return event_response(streams, lambda: chats.events(None, after))

    return routes
