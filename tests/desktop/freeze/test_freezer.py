import threading
from collections.abc import Sequence

from deskhand.desktop.freeze.freezer import SIGNALS, Freezer, NoFreezer
from deskhand.desktop.freeze.report import StopReport
from deskhand.desktop.freeze.selection import Origins, ProcessFacts

UID = 1001
LIMIT = 20.0


class Table:
    """Processes that stop at once, unless they refuse or ignore the signal."""

    def __init__(self, *pids: int) -> None:
        self.found = {pid: ProcessFacts(pid, pid - 1, UID, f"p{pid}", 5) for pid in pids}
        self.did: list[str] = []
        self.grouped: set[int] = set()
        self.connected: set[int] = set()
        self.refusing: set[int] = set()
        self.ignoring: set[int] = set()
        self.forks: list[int] = []
        self.passes = 0
        self.passed = threading.Condition()

    def table(self) -> list[ProcessFacts]:
        with self.passed:
            self.passes += 1
            self.passed.notify_all()
        return list(self.found.values())

    def freeze(self) -> None:
        self.did.append("freeze")
        for pid in self.grouped:
            self.found[pid] = self.found[pid]._replace(frozen=True)

    def thaw(self) -> None:
        self.did.append("thaw")
        for pid in self.grouped:
            self.found[pid] = self.found[pid]._replace(frozen=False)

    def stop(self, process: ProcessFacts) -> bool:
        if process.pid in self.refusing:
            return False
        self.did.append(f"stop {process.pid}")
        if process.pid not in self.ignoring:
            self.found[process.pid] = process._replace(stopped=True)
        while self.forks:
            child = self.forks.pop()
            self.found[child] = process._replace(pid=child, parent=process.pid, name=f"p{child}")
        return True

    def resume(self, process: ProcessFacts) -> None:
        self.did.append(f"resume {process.pid}")
        self.found[process.pid] = process._replace(stopped=False)

    def kill(self, process: ProcessFacts) -> None:
        self.did.append(f"kill {process.pid}")
        self.found = {pid: one for pid, one in self.found.items() if pid != process.pid}

    def x_clients(self, processes: Sequence[ProcessFacts]) -> list[int]:
        return [one.pid for one in processes if one.pid in self.connected]

    def wait_passes(self, more: int) -> None:
        with self.passed:
            wanted = self.passes + more
            assert self.passed.wait_for(lambda: self.passes >= wanted, LIMIT)


def freezer(table: Table, clock: float = 0.0) -> Freezer:
    return Freezer(table, lambda: Origins(UID), lambda: clock)


def test_parents_stop_first_and_children_continue_first() -> None:
    table = Table(7, 8)
    with freezer(table).held():
        assert table.did == ["freeze", "stop 7", "stop 8"]
    assert table.did[3:] == ["thaw", "resume 8", "resume 7"]


def test_processes_of_a_stopped_group_get_no_signal_and_are_counted() -> None:
    table = Table(7, 8)
    table.grouped = {7}
    table.found[9] = ProcessFacts(9, 7, UID + 1, "foreign", 6, frozen=True)
    table.found[10] = ProcessFacts(10, 7, UID, "by job control", 6, stopped=True, frozen=True)
    held = freezer(table)
    with held.held():
        assert table.did == ["freeze", "stop 8"]
        assert held.report() == StopReport(2, (), 0.0)
    assert table.did[2:] == ["thaw", "resume 8"]
    assert held.report() == StopReport()


def test_a_stopped_client_of_the_display_is_killed_while_the_keyboard_is_grabbed() -> None:
    table = Table(7, 8, 9)
    table.connected = {7, 9}
    grabbed = [True]
    origins = Origins(UID, service=frozenset({9}))
    held = Freezer(table, lambda: origins, keyboard_grabbed=lambda: grabbed[0])
    with held.held():
        grabbed[0] = False
        assert table.did == ["freeze", "stop 7", "stop 8", "kill 7"]


def test_the_keyboard_is_checked_again_for_requests_that_were_on_their_way() -> None:
    table, asked = Table(7), threading.Semaphore(0)

    def grabbed() -> bool:
        asked.release()
        return False

    with Freezer(table, lambda: Origins(UID), keyboard_grabbed=grabbed).held():
        for _ in range(3):
            assert asked.acquire(timeout=LIMIT)
    assert "kill 7" not in table.did


def test_a_pause_kills_nobody_who_has_the_keyboard_until_a_person_types() -> None:
    table = Table(7)
    client, table.connected = table.found[7], {7}
    held = Freezer(table, lambda: Origins(UID), keyboard_grabbed=lambda: 7 in table.found)
    held.hold(frees_keyboard=False)
    for person in (1, 2):
        table.wait_passes(2)
        assert table.did.count("kill 7") == person - 1
        held.hold()
        assert table.did.count("kill 7") == person
        held.release()
        table.found = {7: client}
    assert "thaw" not in table.did
    held.release(frees_keyboard=False)
    assert table.did.count("thaw") == 1


def test_a_child_that_was_forked_meanwhile_is_stopped_before_hold_returns() -> None:
    table = Table(7)
    table.forks = [8]
    held = freezer(table)
    held.hold()
    assert table.did == ["freeze", "stop 7", "stop 8"]
    assert held.release().count == 2


def test_a_process_that_was_stopped_before_stays_stopped() -> None:
    table = Table(7)
    table.found[7] = table.found[7]._replace(stopped=True)
    with freezer(table).held():
        pass
    assert table.did == ["freeze", "thaw"]


def test_a_process_that_starts_or_continues_while_held_is_stopped() -> None:
    table = Table(7)
    with freezer(table).held():
        late = ProcessFacts(9, 1, UID, "late", 6)
        # Both in one assignment, so that one pass of the thread finds both.
        table.found = {**table.found, 7: table.found[7]._replace(stopped=False), 9: late}
        table.wait_passes(2)
        assert table.did[2:] == ["stop 7", "stop 9"]


def test_the_last_of_two_holders_continues() -> None:
    table = Table(7)
    held = freezer(table)
    held.hold()
    held.hold()
    assert held.release().count == 1
    assert table.did == ["freeze", "stop 7"]
    held.release()
    assert table.did == ["freeze", "stop 7", "thaw", "resume 7"]
    assert held.release() == StopReport()


def test_processes_that_cannot_be_stopped_are_named() -> None:
    table = Table(7, 8)
    table.refusing, table.ignoring = {7}, {8}
    held = freezer(table)
    with held.held():
        table.wait_passes(SIGNALS + 2)
        assert held.report() == StopReport(1, ("p7", "p8"), 0.0)
    assert held.report() == StopReport()


def test_a_process_in_uninterruptible_sleep_counts_as_stopped() -> None:
    table = Table(7)
    table.ignoring = {7}
    table.found[7] = table.found[7]._replace(asleep=True)
    held = freezer(table)
    with held.held():
        table.wait_passes(SIGNALS + 2)
        assert held.report() == StopReport(1, (), 0.0)


def test_a_process_of_the_service_continues_once_it_is_known() -> None:
    table = Table(7, 9)
    origins = [Origins(UID)]
    held = Freezer(table, lambda: origins[0], lambda: 0.0)
    with held.held():
        origins[0] = Origins(UID, service=frozenset({9}))
        table.wait_passes(2)
        assert table.did == ["freeze", "stop 7", "stop 9", "resume 9"]
        assert held.report().count == 1


def test_closing_continues_whoever_holds() -> None:
    table = Table(7)
    held = freezer(table)
    held.hold()
    held.hold()
    held.close()
    held.close()
    assert table.did == ["freeze", "stop 7", "thaw", "resume 7"]


def test_a_browser_is_known_by_how_it_was_started() -> None:
    table = Table(7, 8)
    table.found[8] = table.found[8]._replace(program="/usr/bin/chromium")
    origins = Origins(UID, applications=frozenset({7, 8}))
    freezer = Freezer(table, lambda: origins)
    assert [freezer.is_browser(pid) for pid in (7, 8, 9)] == [False, True, False]


def test_no_freezer_stops_nothing() -> None:
    nothing = NoFreezer()
    nothing.hold()
    assert nothing.report() == nothing.release() == StopReport()
