"""Events of chats in the format ``text/event-stream``.

https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

from typing import Any, Protocol

from deskhand.vncbridge.http.sse import format_event

Json = dict[str, Any]

LONGEST_ID = 19
"""Digits of a 64-bit integer; Python would spend much time on parsing longer ones."""


class StreamEvent(Protocol):
    """An event of a chat."""

    @property
    def id(self) -> int:
        """Number that rises with each event."""

    @property
    def kind(self) -> str:
        """Name of the event, such as ``status``."""

    @property
    def chat_id(self) -> str:
        """Id of the chat."""

    @property
    def data(self) -> Json:
        """Fields of an event of that kind."""


def event_bytes(event: StreamEvent) -> bytes:
    """Return one event in its wire format.

    Raises:
        ValueError: If the kind contains a line break, which would begin another field.
    """
    data = {"id": event.id, "kind": event.kind, "chat_id": event.chat_id, "data": event.data}
    return format_event(event.kind, data, str(event.id))


def last_seen(last_event_id: str | None) -> int | None:
    """Return the id in a ``Last-Event-ID`` header, ``None`` without a usable one."""
    value = (last_event_id or "").strip()
    # ``isdigit`` is also true for digits of other scripts and for superscripts, hence ``isascii``.
    return int(value) if value.isascii() and value.isdigit() and len(value) <= LONGEST_ID else None
