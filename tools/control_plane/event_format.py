"""Events in the form of ``text/event-stream``."""

from typing import Any, Protocol

from deskhand.vncbridge.http.sse import format_event

Json = dict[str, Any]

LONGEST_ID = 19


class StreamEvent(Protocol):
    """Something that happened to a chat."""

    @property
    def id(self) -> int:
        """Grows with each event."""

    @property
    def kind(self) -> str:
        """Which it is, as ``status``."""

    @property
    def chat_id(self) -> str:
        """The chat."""

    @property
    def data(self) -> Json:
        """What belongs to that kind."""


def event_bytes(event: StreamEvent) -> bytes:
    """Return one event as it goes over the wire.

    Raises:
        ValueError: If the kind has a line break: it would begin another field.
    """
    data = {"id": event.id, "kind": event.kind, "chat_id": event.chat_id, "data": event.data}
    return format_event(event.kind, data, str(event.id))


def last_seen(last_event_id: str | None) -> int | None:
    """Return the id of the last event a returning listener had, by ``Last-Event-ID``."""
    value = (last_event_id or "").strip()
    return int(value) if value.isascii() and value.isdigit() and len(value) <= LONGEST_ID else None
