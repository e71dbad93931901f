"""Messages of a page's WebSocket. Pure.

The page sends one JSON object in each text message: ``{"subscribe": TOPIC, "after": ID}``, where
``after`` is the id of the last event that it has, or ``{"unsubscribe": TOPIC}``. It receives

- ``{"topic", "kind": "open"}`` when a subscription begins, ``"refused"`` with a ``message`` if it
  does not;
- ``{"topic", "id", "kind", "chat_id", "data"}`` for an event;
- ``{"topic", "id", "kind": "again"}`` when events were missed: the page reads what it shows again;
- a binary message for a picture: the topic, a line feed, and a JPEG.

Ids are opaque to pages: ``PLANE:NUMBER``, where the plane is the control plane that gave them.
"""

import json
from dataclasses import dataclass
from typing import Any

from .topics import Topic, parse_topic

Json = dict[str, Any]

LONGEST_MESSAGE = 1000
"""Characters of a message from a page."""


class BadMessage(Exception):
    """A message that no page of ours sends."""


@dataclass(frozen=True)
class Subscribe:
    """A page wants a topic."""

    topic: Topic
    after: str = ""
    """Id of the last event that the page has; empty if it has read everything just now."""


@dataclass(frozen=True)
class Unsubscribe:
    """A page does not want a topic any more."""

    name: str


def parse_message(text: str) -> Subscribe | Unsubscribe:
    """Parse a message of a page.

    Raises:
        BadMessage: If it is another message.
        UnknownTopic: If it names no topic.
    """
    try:
        found = json.loads(text) if len(text) <= LONGEST_MESSAGE else None
    except (ValueError, RecursionError):
        found = None
    match found:
        case {"unsubscribe": str(name), **rest} if not rest:
            return Unsubscribe(name)
        case {"subscribe": str(name), "after": str(after), **rest} if not rest:
            return Subscribe(parse_topic(name), after)
        case {"subscribe": str(name), **rest} if not rest:
            return Subscribe(parse_topic(name))
    raise BadMessage('Send {"subscribe": TOPIC, "after": ID} or {"unsubscribe": TOPIC}.')


def event_id(plane: str, number: int) -> str:
    """Return the id of an event for pages."""
    return f"{plane}:{number}"


def number_of(plane: str, after: str) -> int | None:
    """Return the number in an id; -1 if another plane gave it, None for no id.

    No event of this plane follows -1 without a gap, so that the page reads again.
    """
    if not after:
        return None
    given, _, number = after.rpartition(":")
    known = given == plane and number.isascii() and number.isdigit() and len(number) <= 19
    return int(number) if known else -1


def note(topic: str, kind: str, **fields: Any) -> str:
    """Return a message about a topic."""
    return json.dumps({"topic": topic, "kind": kind, **fields}, separators=(",", ":"))


def picture(topic: str, image: bytes) -> bytes:
    """Return the message with a picture."""
    return topic.encode() + b"\n" + image
