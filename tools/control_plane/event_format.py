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


def event_bytes(event: StreamEvent, source: str = "") -> bytes:
    """Return one event in its wire format.

    ``source`` is the control plane, if several have events: its ids are the only ones that rise.

    Raises:
        ValueError: If the kind contains a line break, which would begin another field.
    """
    known: int | str = f"{source}:{event.id}" if source else event.id
    data = {"id": known, "kind": event.kind, "chat_id": event.chat_id, "data": event.data}
    return format_event(event.kind, data, str(known))


def last_seen(last_event_id: str | None, source: str = "") -> int | None:
    """Return the number in a ``Last-Event-ID`` header, ``None`` without a usable one.

    An id of another ``source`` is -1. No event follows it without a gap, so that the client gets
    ``lost`` and reads again.
    """
    value = (last_event_id or "").strip()
    if source and value:
        given, _, number = value.rpartition(":")
        return int(number) if given == source and _is_number(number) else -1
    return int(value) if _is_number(value) else None


def _is_number(text: str) -> bool:
    # ``isdigit`` is also true for digits of other scripts and for superscripts, hence ``isascii``.
    return text.isascii() and text.isdigit() and len(text) <= LONGEST_ID
