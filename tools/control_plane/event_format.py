"""Events in the form of ``text/event-stream``."""

import json
from typing import Any, Protocol

Json = dict[str, Any]

LONGEST_ID = 19
OPENING = b"retry: 2000\n\n"
"""Sent first: how many milliseconds a browser waits before it connects again."""
HEARTBEAT = b": still here\n\n"
"""A comment, so that nothing between us takes a quiet stream for a dead one."""


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
    if not event.kind.isprintable():
        raise ValueError(f"not a name of an event: {event.kind!r}")
    data = {"id": event.id, "kind": event.kind, "chat_id": event.chat_id, "data": event.data}
    # JSON escapes every line break, so that the data is always one line.
    line = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"id: {event.id}\nevent: {event.kind}\ndata: {line}\n\n".encode()


def last_seen(last_event_id: str | None) -> int | None:
    """Return the id of the last event a returning listener had, by ``Last-Event-ID``."""
    value = (last_event_id or "").strip()
    return int(value) if value.isascii() and value.isdigit() and len(value) <= LONGEST_ID else None
