import os
import select
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from deskhand.desktop.display.child_processes import (
    ChildCommand,
    ChildProcess,
    ChildProcessSpawner,
    find_program,
)
from deskhand.desktop.errors import MissingProgram

LIMIT = 20.0
ENVIRONMENT = {"PATH": os.environ["PATH"], "GREETING": "hello"}


def shell(tmp_path: Path, script: str) -> ChildCommand:
    return ChildCommand(
        ("sh", "-c", script), ENVIRONMENT, tmp_path / "logs" / "child.log", tmp_path
    )


def test_a_child_runs_alone_in_its_session_and_writes_to_its_log(tmp_path: Path) -> None:
    with ChildProcessSpawner() as spawner:
        child = spawner.spawn(shell(tmp_path, "echo $GREETING; pwd; ps -o sid= -p $$"))
        assert child.exited.wait(LIMIT)
    greeting, place, session = child.log_tail().splitlines()
    assert (greeting, place, int(session)) == ("hello", str(tmp_path), child.pid)
    assert child.returncode == 0
    assert not child.running


def test_the_services_own_children_are_named_and_not_those_of_the_agent(tmp_path: Path) -> None:
    with ChildProcessSpawner() as spawner:
        own, agents = (
            spawner.spawn(replace(shell(tmp_path, "sleep 600"), user=user))
            for user in ("service", "agent")
        )
        assert spawner.pids() == {own.pid}
        assert agents.running


def test_a_missing_program_is_named_with_its_package(tmp_path: Path) -> None:
    with pytest.raises(MissingProgram, match="no-such-program"):
        find_program("no-such-program")
    order = ChildCommand(("tint2",), {"PATH": str(tmp_path)}, tmp_path / "log")
    with ChildProcessSpawner() as spawner, pytest.raises(MissingProgram, match="tint2"):
        spawner.spawn(order)


def test_an_exit_is_told_in_the_thread_that_spawns(tmp_path: Path) -> None:
    again = threading.Event()
    order = shell(tmp_path, "exit 3")
    with ChildProcessSpawner() as spawner:

        def respawn(child: ChildProcess) -> None:
            if not again.is_set():
                again.set()
                spawner.spawn(shell(tmp_path, "sleep 600"))

        watched = ChildCommand(order.argv, order.environment, order.log, on_exit=respawn)
        child = spawner.spawn(watched)
        assert again.wait(LIMIT)
    assert child.returncode == 3


def test_stopping_ends_the_group_even_when_it_ignores_the_request(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    os.mkfifo(ready)
    script = f"trap '' TERM; sleep 600 & echo $! > {ready}; wait; sleep 600"
    with ChildProcessSpawner() as spawner:
        child = spawner.spawn(shell(tmp_path, script))
        grandchild = int(ready.read_text())
        child.stop(grace=0.1)
        assert child.returncode == -signal.SIGKILL
        assert ended(grandchild)


def test_closing_ends_every_child(tmp_path: Path) -> None:
    spawner = ChildProcessSpawner()
    spawner.open()
    children = [spawner.spawn(shell(tmp_path, "sleep 600")) for _ in range(3)]
    spawner.close()
    spawner.close()
    assert not any(child.running for child in children)


def test_children_die_with_the_process_that_spawned_them(tmp_path: Path) -> None:
    program = (
        "import os, sys, signal\n"
        "from pathlib import Path\n"
        "from deskhand.desktop.display.child_processes import ChildCommand, ChildProcessSpawner\n"
        "spawner = ChildProcessSpawner(); spawner.open()\n"
        "ready = sys.argv[1] + '.ready'; os.mkfifo(ready)\n"
        "command = ('sh', '-c', f'echo > {ready}; exec sleep 600')\n"
        "child = spawner.spawn(ChildCommand(command, dict(os.environ), Path(sys.argv[1])))\n"
        # It sets its parent-death signal before it says so.
        "Path(ready).read_text(); print(child.pid, flush=True)\n"
        "sys.stdin.read(1)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    log = tmp_path / "log"
    with subprocess.Popen(
        [sys.executable, "-c", program, log],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[3],
    ) as service:
        assert service.stdout is not None
        child = int(service.stdout.readline())
        service.communicate(b"x")
        assert service.wait(LIMIT) == -signal.SIGKILL
    assert ended(child)


def ended(pid: int) -> bool:
    """Whether the process ends in time, collected by its new parent or not."""
    try:
        pidfd = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([pidfd], [], [], LIMIT)[0])
    finally:
        os.close(pidfd)
