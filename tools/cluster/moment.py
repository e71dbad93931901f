"""Events of the moment that control planes send to each other, and where they are reached. Pure.

One event is a line of JSON, ``[KIND, CHAT, DATA]``. An empty line shows that the connection works.
"""

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from .errors import BadMember, BadMoment
from .member import Member

Json = dict[str, Any]
LONGEST_LINE = 4 << 20
"""Bytes. The text of a reply is sent whole with each event; models write less than this."""


@dataclass(frozen=True)
class MomentaryEvent:
    """An event that no row shows, such as the text of a reply that is being written."""

    kind: str
    chat_id: str
    data: Json = field(default_factory=dict)

    @property
    def key(self) -> str | None:
        """The event is replaced by a later one of this key; None if it is not."""
        return self.chat_id if self.kind == "text" else None

    def to_line(self) -> bytes:
        """Return the event as a line."""
        fields = [self.kind, self.chat_id, self.data]
        return json.dumps(fields, separators=(",", ":")).encode() + b"\n"


def read_moment(line: bytes) -> MomentaryEvent | None:
    """Return the event of a line, None for an empty one.

    Raises:
        BadMoment: If no control plane of this version has written it.
    """
    if not line.strip():
        return None
    try:
        kind, chat_id, data = json.loads(line)
    except (TypeError, ValueError) as error:
        raise BadMoment(f"not an event: {line[:100]!r}") from error
    if not (isinstance(kind, str) and isinstance(chat_id, str) and isinstance(data, dict)):
        raise BadMoment(f"not an event: {line[:100]!r}")
    return MomentaryEvent(kind, chat_id, data)


def listen_address(text: str) -> tuple[str, int]:
    """Return host and port at which others reach a control plane.

    Raises:
        BadMember: If they cannot; the text says why.
    """
    try:
        parts = urlsplit(f"//{text}")
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise BadMember(f"{text!r}: {error}") from error
    if not host or port is None or parts.netloc != text or parts.username:
        raise BadMember(f"{text!r} is no HOST:PORT, such as 10.0.0.5:7443")
    if host in ("0.0.0.0", "::"):  # noqa: S104 - it is refused
        raise BadMember(f"{text!r} is no address at which others reach this host")
    return host, port


@dataclass(frozen=True)
class PeerAddress:
    """Where other control planes reach one, as its row contains it: ``NAME@HOST:PORT``."""

    member: Member
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.member.name}@{host}:{self.port}"

    @classmethod
    def parse(cls, text: str) -> "PeerAddress | None":
        """Return the address in a row, None if that control plane has none."""
        try:
            parts = urlsplit(f"//{text}")
            name, host, port = parts.username, parts.hostname, parts.port
            return cls(Member("plane", name or ""), host, port) if host and port else None
        except (BadMember, ValueError):
            return None
