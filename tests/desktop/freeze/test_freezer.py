import threading

from deskhand.desktop.freeze.freezer import SIGNALS, Freezer, NoFreezer
from deskhand.desktop.freeze.keyboard_guard import SETTLED, Grab
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


class Keyboard:
    """Answers each check with `found`, and notifies those that wait for one."""

    def __init__(self, found: Grab) -> None:
        self.found = found
        self.kinds: list[bool] = []
        self.checked = threading.Condition()

    def __call__(self, thorough: bool) -> Grab:
        with self.checked:
            self.kinds.append(thorough)
            self.checked.notify_all()
            return self.found

    def wait(self, more: int) -> None:
        """Wait for some checks, and for the effect of the one before the last."""
        with self.checked:
            wanted = len(self.kinds) + more
            assert self.checked.wait_for(lambda: len(self.kinds) >= wanted, LIMIT)


def test_keys_pass_while_no_stopped_program_can_get_them() -> None:
    keyboard = Keyboard("grabbed")
    table = Table(7)
    held = Freezer(table, lambda: Origins(UID), keyboard=keyboard)
    assert held.may_type()
    with held.held():
        assert not held.may_type()
        keyboard.found = "none"
        assert held.may_type(LIMIT)
        keyboard.found = "unknown"
        keyboard.wait(2)
        assert not held.may_type()
        # An honest program with an open menu is not ended.
        assert table.did == ["freeze", "stop 7"]
    assert held.may_type()


def test_the_keyboard_is_checked_as_long_as_it_is_held() -> None:
    keyboard, table = Keyboard("none"), Table(7)
    held = Freezer(table, lambda: Origins(UID), keyboard=keyboard)
    with held.held():
        keyboard.wait(SETTLED + 2)
        assert all(keyboard.kinds[:SETTLED])
        assert not keyboard.kinds[-1]
        # The menu of an application that goes on.
        keyboard.found = "grabbed"
        keyboard.wait(2)
        assert held.may_type()
        # A program that was started meanwhile may have grabbed it before it was stopped.
        table.found[9] = ProcessFacts(9, 1, UID, "p9", 5)
        keyboard.wait(3)
        assert not held.may_type()


def test_a_pause_guards_no_keyboard_until_a_person_types() -> None:
    keyboard, table = Keyboard("grabbed"), Table(7)
    held = Freezer(table, lambda: Origins(UID), keyboard=keyboard)
    held.hold(guards_keyboard=False)
    assert held.may_type()
    assert not keyboard.kinds
    for person in (1, 2):
        held.hold()
        assert len(keyboard.kinds) >= person
        assert not held.may_type()
        held.release()
        assert held.may_type()
    assert "thaw" not in table.did
    held.release(guards_keyboard=False)
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
