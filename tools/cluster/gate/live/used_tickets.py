"""Tickets that were used, and credentials whose tickets count no more. Pure."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Literal, get_args

from deskhand.tools.cluster.errors import TicketRefused
from deskhand.tools.cluster.tickets import LIFETIME_SECONDS, LiveTicket

MarkKind = Literal["ticket", "credential"]


@dataclass(frozen=True)
class TicketMark:
    """A ticket that was used, or a credential that was revoked."""

    kind: MarkKind
    name: str
    """Id of the ticket, or name of the credential."""
    until: float
    """Unix time from which on it refuses nothing that would be valid."""

    @property
    def line(self) -> str:
        """The mark as a line of JSON."""
        return json.dumps(asdict(self), separators=(",", ":")) + "\n"


def marks_of(text: str) -> Sequence[TicketMark]:
    """Return the marks of lines; a line that a killed process has cut is left out."""
    marks = (_mark(line) for line in text.splitlines())
    return [mark for mark in marks if mark is not None]


def _mark(line: str) -> TicketMark | None:
    try:
        found = json.loads(line)
        kind, name, until = found["kind"], found["name"], found["until"]
    except (ValueError, KeyError, TypeError):
        return None
    is_good = kind in get_args(MarkKind) and isinstance(name, str) and isinstance(until, float)
    return TicketMark(kind, name, until) if is_good else None


class UsedTickets:
    """Remembers both for as long as a ticket may be valid; times are unix times."""

    def __init__(self, marks: Iterable[TicketMark] = ()) -> None:
        self._until: dict[tuple[MarkKind, str], float] = {}
        self._add(marks)

    def use(self, ticket: LiveTicket, now: float) -> TicketMark:
        """Record the use of a ticket and return the mark of it.

        Raises:
            TicketRefused: If it was used before, or its credential was revoked.
        """
        self._drop_over(now)
        if ("ticket", ticket.id) in self._until:
            raise TicketRefused("it was used before")
        if any(("credential", name) in self._until for name in (ticket.caller, *ticket.via)):
            raise TicketRefused("its credential was revoked")
        if ticket.ends is not None and ticket.ends <= now:
            raise TicketRefused("its credential is over")
        mark = TicketMark("ticket", ticket.id, now + LIFETIME_SECONDS)
        self._add([mark])
        return mark

    def revoke(self, credentials: Iterable[str], now: float) -> Sequence[TicketMark]:
        """Refuse the tickets of credentials from now on, and return the marks of that."""
        marks = [TicketMark("credential", name, now + LIFETIME_SECONDS) for name in credentials]
        self._add(marks)
        return marks

    def marks(self, now: float) -> Sequence[TicketMark]:
        """Return what is remembered."""
        self._drop_over(now)
        return [TicketMark(kind, name, until) for (kind, name), until in self._until.items()]

    def _add(self, marks: Iterable[TicketMark]) -> None:
        self._until |= {(mark.kind, mark.name): mark.until for mark in marks}

    def _drop_over(self, now: float) -> None:
        self._until = {mark: until for mark, until in self._until.items() if until > now}
