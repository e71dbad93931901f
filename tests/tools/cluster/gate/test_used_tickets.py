from dataclasses import replace

import pytest

from deskhand.tools.cluster.errors import TicketRefused
from deskhand.tools.cluster.gate.used_tickets import UsedTickets
from deskhand.tools.cluster.tickets import LIFETIME_SECONDS, LiveTicket

NOW = 1_000.0
TICKET = LiveTicket("t1", "n7", "aaaaaaaa", "view", NOW + 30, caller="ci", via=("token-1",))


def test_a_ticket_is_used_once() -> None:
    used = UsedTickets()
    used.use(TICKET, NOW)
    used.use(replace(TICKET, id="t2"), NOW)
    for later in (NOW, NOW + LIFETIME_SECONDS - 1):
        with pytest.raises(TicketRefused, match="used before"):
            used.use(TICKET, later)
    # It is over then, which the reader of tickets finds out.
    used.use(TICKET, NOW + LIFETIME_SECONDS)


@pytest.mark.parametrize("name", ["ci", "token-1"])
def test_the_tickets_of_a_revoked_credential_are_refused(name: str) -> None:
    used = UsedTickets()
    used.revoke(["other", name], NOW)
    with pytest.raises(TicketRefused, match="revoked"):
        used.use(TICKET, NOW + 1)
    # Another credential may have the name later.
    used.use(TICKET, NOW + LIFETIME_SECONDS)


def test_the_tickets_of_a_credential_that_is_over_are_refused() -> None:
    with pytest.raises(TicketRefused, match="credential is over"):
        UsedTickets().use(replace(TICKET, ends=NOW), NOW)
