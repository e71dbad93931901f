from dataclasses import replace

import pytest

from deskhand.tools.cluster.errors import TicketRefused
from deskhand.tools.cluster.gate.live.used_tickets import TicketMark, UsedTickets, marks_of
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


def test_what_is_remembered_is_read_from_its_lines_again() -> None:
    used = UsedTickets()
    made = [used.use(TICKET, NOW), *used.revoke(["token-2"], NOW + 1)]
    assert used.marks(NOW) == made
    again = UsedTickets(marks_of("".join(mark.line for mark in made)))
    with pytest.raises(TicketRefused, match="used before"):
        again.use(TICKET, NOW + 1)
    with pytest.raises(TicketRefused, match="revoked"):
        again.use(replace(TICKET, id="t2", via=("token-2",)), NOW + 1)
    assert again.marks(NOW + LIFETIME_SECONDS) == made[1:]


def test_lines_that_were_cut_at_any_byte_are_left_out() -> None:
    marks = [TicketMark("ticket", "t1", NOW), TicketMark("credential", "ci", NOW + 1)]
    text = "".join(mark.line for mark in marks)
    first = len(marks[0].line) - 1
    for end in range(len(text)):
        assert (
            list(marks_of(text[:end])) == marks[: 0 if end < first else 1 + (end > len(text) - 2)]
        )


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        "7",
        '{"kind":"ticket","name":"t1"}',
        '{"kind":"other","name":"t1","until":1.0}',
        '{"kind":"ticket","name":7,"until":1.0}',
        '{"kind":"ticket","name":"t1","until":"1.0"}',
        '{"kind":"ticket","name":"t1","until":1}',
    ],
)
def test_a_line_that_is_no_mark_is_left_out(line: str) -> None:
    mark = TicketMark("ticket", "t2", 1.0)
    assert marks_of(f"{line}\n{mark.line}") == [mark]
