"""Topics of a page's WebSocket, and the scope that each one requires. Pure."""

import re
from dataclasses import dataclass

from deskhand.vncbridge.auth.scopes import Need

_TOPIC = re.compile(
    r"(?P<plain>chats|desktops)"
    r"|(?P<kind>chat|viewers|shot):(?P<id>[A-Za-z0-9._-]{1,64})(\?width=(?P<width>[0-9]{1,4}))?"
)
DEFAULT_WIDTH = 640
WIDTHS = range(64, 1921)
"""CSS pixels; larger pictures are for the live view."""


class UnknownTopic(Exception):
    """There is no such topic."""


@dataclass(frozen=True)
class Topic:
    """What a page can subscribe to."""

    name: str
    """As the page wrote it: messages name it so."""
    kind: str
    """``chats``, ``chat``, ``desktops``, ``viewers`` or ``shot``."""
    id: str = ""
    """Of the chat or the desktop; empty for all."""
    width: int = 0
    """Of pictures, in pixels; 0 for other kinds."""

    def need(self) -> Need:
        """Return the access that a subscriber needs."""
        if self.kind == "chat":
            return Need("chat", self.id, "share")
        if self.kind in ("viewers", "shot"):
            return Need("desktop", self.id, "view")
        # People get the changes of what they may see.
        return Need("people", "", "view")


def parse_topic(name: str) -> Topic:
    """Parse ``chats``, ``chat:ID``, ``desktops``, ``viewers:ID`` or ``shot:ID?width=N``.

    Raises:
        UnknownTopic: If it is none of these, or the width is not from 64 to 1920.
    """
    found = _TOPIC.fullmatch(name)
    if found is None or (found["width"] and found["kind"] != "shot"):
        raise UnknownTopic(f"{name[:80]!r} is no topic")
    if found["plain"]:
        return Topic(name, found["plain"])
    width = 0
    if found["kind"] == "shot":
        width = int(found["width"] or DEFAULT_WIDTH)
        if width not in WIDTHS:
            raise UnknownTopic(f"a width is from {WIDTHS[0]} to {WIDTHS[-1]}, not {width}")
    return Topic(name, found["kind"], found["id"], width)
