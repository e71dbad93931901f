import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from deskhand.desktop.freeze.process_table import UserProcesses
from tests.system.services import until


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "600"]) as process:
        try:
            yield process
        finally:
            process.kill()


def state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[0]


def test_a_process_is_found_stopped_and_continued(sleeper: subprocess.Popen[bytes]) -> None:
    processes = UserProcesses([os.getuid()])
    # The child has its parent's name and arguments until it has called execve(2).
    until(lambda: "sleep" in Path(f"/proc/{sleeper.pid}/comm").read_text(), "the program")
    found = {one.pid: one for one in processes.table()}[sleeper.pid]
    assert (found.parent, found.uid, found.name) == (os.getpid(), os.getuid(), "sleep")
    assert found.program is not None
    assert found.arguments[:2] == ("sleep", "600")
    assert not found.stopped
    assert processes.stop(found)
    until(lambda: state(sleeper.pid) == "T", "the stop")
    assert {one.pid: one for one in processes.table()}[sleeper.pid].stopped
    processes.resume(found)
    until(lambda: state(sleeper.pid) == "S", "the continuation")
    assert os.getpid() not in {one.pid for one in processes.table()}


def test_a_reused_pid_is_not_signalled(sleeper: subprocess.Popen[bytes]) -> None:
    processes = UserProcesses([os.getuid()])
    found = {one.pid: one for one in processes.table()}[sleeper.pid]
    processes.stop(found._replace(started=found.started - 1))
    assert state(sleeper.pid) != "T"


def test_a_process_of_another_user_is_not_signalled(sleeper: subprocess.Popen[bytes]) -> None:
    found = {one.pid: one for one in UserProcesses([os.getuid()]).table()}[sleeper.pid]
    assert UserProcesses([os.getuid() + 1]).stop(found)
    assert state(sleeper.pid) != "T"


def test_a_process_that_has_ended_counts_as_stopped() -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    processes = UserProcesses([os.getuid()])
    own = processes.table()[0]
    assert processes.stop(own._replace(pid=ended.pid))
