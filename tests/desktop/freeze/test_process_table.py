import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
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


def program_of(arguments: Sequence[str], uid: int) -> str | None:
    """Return the program of a process that prints a line and waits."""
    with subprocess.Popen(
        arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, user=uid, cwd="/"
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        found = {one.pid: one for one in UserProcesses([uid]).table()}[process.pid]
        process.kill()
        return found.program


WAITING = "print('ready', flush=True); input()"
NOBODY = 65534


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs the capability CAP_SETUID")
def test_a_program_is_known_by_the_path_of_a_file_that_its_user_cannot_replace() -> None:
    python = str(Path("/usr/bin/python3").resolve())
    assert program_of([python, "-c", WAITING], NOBODY) == python
    with tempfile.TemporaryDirectory(prefix="deskhand-") as folder:
        Path(folder).chmod(0o711)
        copy = Path(folder, "chromium")
        shutil.copy(python, copy)
        assert program_of([str(copy), "-c", WAITING], NOBODY) == str(copy)
        os.chown(copy, NOBODY, NOBODY)
        assert program_of([str(copy), "-c", WAITING], NOBODY) is None
    mounted = f'mount --bind {python} /usr/bin/env && exec /usr/bin/env -c "$0"'
    words = ["unshare", "-Urm", "sh", "-c", mounted, WAITING]
    assert program_of(words, NOBODY) is None


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
