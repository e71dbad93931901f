"""Changes below a directory as server-sent events."""

from collections.abc import AsyncGenerator
from contextlib import closing
from typing import Any, Protocol

from deskhand.vncbridge.http.sse import EventStreamResponse, EventStreams, format_event

Json = dict[str, Any]

MOST_WATCHES = 32
"""Concurrent watches; the kernel permits 128 inotify instances per user by default."""


class ChangeStream(Protocol):
    """The changes of a tree, for one reader."""

    async def next(self) -> Json | None:
        """Return the next change; None when there will be no more."""

    def close(self) -> None:
        """Stop observing; twice is fine."""


def watch_response(changes: ChangeStream, watches: EventStreams) -> EventStreamResponse:
    """Return a stream of the changes of a tree, after the event ``ready``; it closes them."""
    return EventStreamResponse(
        watches,
        change_events(changes),
        opening=format_event("ready", {}),
        resource=closing(changes),
    )


async def change_events(changes: ChangeStream) -> AsyncGenerator[bytes, None]:
    """Yield changes as they arrive, until the stream of changes ends."""
    while (change := await changes.next()) is not None:
        yield format_event("change", change)
