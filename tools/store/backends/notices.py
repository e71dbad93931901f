"""What control planes report to each other of the changes in their database. Pure.

A notice names what has changed and contains none of it: the others read the rows. Several notices
travel in one payload of ``NOTIFY``, whose length is limited
(https://www.postgresql.org/docs/15/sql-notify.html).
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass

DURABLE = frozenset({"created", "status", "message", "step", "queue", "files", "deleted"})
"""Kinds of events that rows show."""
MOMENTARY = frozenset({"text", "notice", "egress"})
"""Kinds of events of the moment, which no row shows."""
DESKTOPS = "desktops"
"""Kind of a notice of a desktop on a node; its id is in the place of a chat's."""
LONGEST_PAYLOAD = 7_999
"""Bytes; a longer payload is an error of the server."""


@dataclass(frozen=True)
class Notice:
    """A change of a chat; ``item`` is the id of the row if it is not the chat's own."""

    kind: str
    chat_id: str
    item: str = ""


class BadPayload(ValueError):
    """A payload that no control plane of this version has written."""


def payloads(plane: str, notices: Iterable[Notice]) -> tuple[str, ...]:
    """Return the payloads of the notices of a control plane, each notice once."""
    found: list[str] = []
    head = json.dumps([plane])[:-1]
    whole = head
    for notice in dict.fromkeys(notices):
        written = json.dumps([notice.kind, notice.chat_id, notice.item], separators=(",", ":"))
        if len(whole) + len(f",{written}]") > LONGEST_PAYLOAD:
            found.append(f"{whole}]")
            whole = head
        whole += f",{written}"
    return (*found, f"{whole}]") if whole != head else tuple(found)


def read_payload(payload: str) -> tuple[str, tuple[Notice, ...]]:
    """Return the control plane that has sent a payload, and its notices.

    Raises:
        BadPayload: If it is anything else.
    """
    try:
        plane, *notices = json.loads(payload)
        if not isinstance(plane, str):
            raise BadPayload(payload[:100])
        return plane, tuple([_read(*one) for one in notices])
    except (TypeError, ValueError) as error:
        raise BadPayload(payload[:100]) from error


def _read(kind: str, chat_id: str, item: str) -> Notice:
    if not all(isinstance(part, str) for part in (kind, chat_id, item)):
        raise BadPayload(kind)
    return Notice(kind, chat_id, item)
