import resource
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from deskhand.tools.cluster.errors import TicketRefused
from deskhand.tools.cluster.gate.live.ticket_journal import TicketJournal
from deskhand.tools.cluster.gate.live.used_tickets import marks_of
from deskhand.tools.cluster.tickets import LIFETIME_SECONDS, LiveTicket

NOW = 1_000.0
TICKET = LiveTicket("t1", "n7", "aaaaaaaa", "view", NOW + 30, caller="ci", via=("token-1",))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tickets.jsonl"


@pytest.fixture
def full_disk() -> Iterator[int]:
    """Let no file of this process become longer than the yielded number of bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    most = 120
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    yield most
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_gate_that_was_restarted_refuses_what_it_refused_before(file: Path) -> None:
    with TicketJournal(file, NOW) as journal:
        journal.use(TICKET, NOW)
        journal.revoke(["token-2"], NOW)
    with TicketJournal(file, NOW + 1) as journal:
        with pytest.raises(TicketRefused, match="used before"):
            journal.use(TICKET, NOW + 1)
        with pytest.raises(TicketRefused, match="revoked"):
            journal.use(replace(TICKET, id="t2", via=("token-2",)), NOW + 1)
        journal.use(replace(TICKET, id="t3"), NOW + 1)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_killed_gate_has_recorded_each_use_before_its_view_opened(file: Path) -> None:
    killed = TicketJournal(file, NOW)
    killed.use(TICKET, NOW)
    with file.open("a") as cut:
        cut.write('{"kind":"tick')
    with TicketJournal(file, NOW) as journal, pytest.raises(TicketRefused, match="used before"):
        journal.use(TICKET, NOW)
    killed.__exit__()


def test_what_is_over_is_not_kept(file: Path) -> None:
    with TicketJournal(file, NOW, most_lines=2) as journal:
        for number in range(4):
            journal.use(replace(TICKET, id=f"a{number}"), NOW)
        later = NOW + LIFETIME_SECONDS
        for number in range(3):
            journal.use(replace(TICKET, id=f"b{number}"), later)
        assert [mark.name for mark in marks_of(file.read_text())] == ["b0", "b1", "b2"]
    with TicketJournal(file, later + LIFETIME_SECONDS):
        assert file.read_text() == ""


def test_a_ticket_whose_use_cannot_be_recorded_is_refused(file: Path, full_disk: int) -> None:
    with TicketJournal(file, NOW) as journal:
        journal.use(TICKET, NOW)
        journal.use(replace(TICKET, id="t2"), NOW)
        for name in ("t3", "t4"):
            with pytest.raises(TicketRefused, match="cannot record its use"):
                journal.use(replace(TICKET, id=name), NOW)
        journal.revoke(["token-1"], NOW)
        with pytest.raises(TicketRefused, match="revoked"):
            journal.use(replace(TICKET, id="t5"), NOW)
        assert file.stat().st_size == full_disk
    assert [mark.name for mark in marks_of(file.read_text())] == ["t1", "t2"]


def test_a_file_that_cannot_be_written_is_reported_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        TicketJournal(tmp_path / "none" / "tickets.jsonl", NOW)
