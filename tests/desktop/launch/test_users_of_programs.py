"""Programs that a real init of root starts as users without entries in the user database."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from deskhand.desktop.isolation.desktop_user import DesktopUser
from deskhand.desktop.launch.init_launcher import InitLauncher
from deskhand.desktop.programs.process_tree import Family
from deskhand.desktop.programs.program import Program
from tests.desktop.launch.test_init_launcher import InitHost, code, output, shell, typed_out

pytestmark = pytest.mark.root

AGENT, BROWSER, SERVICE = 2_146_000_001, 2_146_000_002, 2_146_000_003
"""Ids above those of all desktops."""


@pytest.fixture(scope="module")
def launcher() -> Iterator[InitLauncher]:
    host = InitHost()
    users = {"agent": AGENT, "browser": BROWSER, "service": SERVICE}
    host.launcher.fix_users(
        {name: DesktopUser(name, uid, uid, (uid, 2_146_000_009)) for name, uid in users.items()}  # type: ignore[misc]
    )
    yield host.launcher
    host.close()


@pytest.fixture
def closed(tmp_path: Path) -> Path:
    """A directory that only root may enter."""
    tmp_path.chmod(0o700)
    return tmp_path


def statuses(launcher: InitLauncher, program: Program) -> dict[str, list[str]]:
    lines = output(launcher, program).splitlines()
    return {name: rest.split() for name, _, rest in (line.partition(":") for line in lines)}


@pytest.mark.parametrize(
    ("user", "uid"), [("agent", AGENT), ("browser", BROWSER), ("service", SERVICE)]
)
def test_a_program_has_the_ids_of_its_user_and_no_privileges(
    launcher: InitLauncher, user: str, uid: int
) -> None:
    found = statuses(launcher, shell("cat /proc/self/status", descriptors=(1,), user=user))
    assert found["Uid"] == found["Gid"] == [str(uid)] * 4
    assert sorted(found["Groups"]) == sorted([str(uid), "2146000009"])
    assert found["NoNewPrivs"] == ["1"]
    assert found["CapPrm"] == found["CapEff"] == ["0" * 16]


def test_directories_and_programs_are_opened_with_the_rights_of_that_user(
    launcher: InitLauncher, closed: Path
) -> None:
    (closed / "tool").write_text("#!/bin/sh\n")
    (closed / "tool").chmod(0o755)
    with pytest.raises(PermissionError, match="Permission denied"):
        launcher.start(shell("true", directories=(str(closed), "/"), descriptors=()))
    with pytest.raises(FileNotFoundError, match="tool"):
        launcher.start(Program(("tool",), {"PATH": str(closed)}, descriptors=()))


def test_a_terminal_belongs_to_the_user_of_its_program(launcher: InitLauncher) -> None:
    controller, terminal = os.openpty()
    program = shell("stat -c %u $(tty) && : < $(tty) && exit 5", terminal=0)
    running = launcher.start(program, (terminal,) * 3)
    os.close(terminal)
    assert code(running) == 5
    assert typed_out(controller) == b"%d\r\n" % AGENT
    os.close(controller)


def test_the_service_signals_and_ends_programs_of_another_user(launcher: InitLauncher) -> None:
    mark = f"MARK=of-{os.getpid()}"
    program = shell("exec sleep 600", descriptors=())
    program = program._replace(environment={**program.environment, "MARK": mark[5:]})
    first, second = launcher.start(program), launcher.start(program)
    first.signal(signal.SIGTERM)
    assert code(first) == -signal.SIGTERM
    assert launcher.end(Family(markers=(mark.encode() + b"\0",)), 5.0)
    assert code(second) == -signal.SIGTERM


def test_processes_of_others_are_not_controlled(launcher: InitLauncher) -> None:
    processes = launcher.processes()
    with subprocess.Popen(["sleep", "600"], env={"MARK": "root"}, process_group=0) as sleeper:
        groups = frozenset({sleeper.pid})
        assert launcher.send(Family(markers=(b"MARK=root",), groups=groups), signal.SIGKILL) == 0
        # It is root's, and listed as a possible parent.
        found = {one.pid: one for one in processes.table()}[sleeper.pid]
        assert processes.stop(found)
        assert Path(f"/proc/{sleeper.pid}/stat").read_text().rpartition(") ")[2][0] != "T"
        sleeper.kill()
    processes.close()
