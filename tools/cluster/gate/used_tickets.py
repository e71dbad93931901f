"""Ids of tickets that were used, and credentials whose tickets count no more. Pure."""

from collections.abc import Iterable

from deskhand.tools.cluster.errors import TicketRefused
from deskhand.tools.cluster.tickets import LIFETIME_SECONDS, LiveTicket


class UsedTickets:
    """Remembers both for as long as a ticket may be valid; times are unix times."""

    def __init__(self) -> None:
        self._used: dict[str, float] = {}
        self._revoked: dict[str, float] = {}

    def use(self, ticket: LiveTicket, now: float) -> None:
        """Record the use of a ticket.

        Raises:
            TicketRefused: If it was used before, or its credential was revoked.
        """
        self._used = _later(self._used, now)
        self._revoked = _later(self._revoked, now)
        if ticket.id in self._used:
            raise TicketRefused("it was used before")
        if not self._revoked.keys().isdisjoint((ticket.caller, *ticket.via)):
            raise TicketRefused("its credential was revoked")
        if ticket.ends is not None and ticket.ends <= now:
            raise TicketRefused("its credential is over")
        self._used[ticket.id] = now + LIFETIME_SECONDS

    def revoke(self, credentials: Iterable[str], now: float) -> None:
        """Refuse the tickets of credentials from now on."""
        self._revoked |= dict.fromkeys(credentials, now + LIFETIME_SECONDS)


def _later(times: dict[str, float], now: float) -> dict[str, float]:
    return {name: time for name, time in times.items() if time > now}
