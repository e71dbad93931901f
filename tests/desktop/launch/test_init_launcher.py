"""Programs that a real init starts, without namespaces and with the rights of the tests."""

import os
import resource
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Lock
from uuid import uuid4

import pytest

from deskhand.desktop.launch.channel import pair
from deskhand.desktop.launch.init_launcher import InitLauncher, InitProgram
from deskhand.desktop.programs.process_tree import Family
from deskhand.desktop.programs.program import Program, ProgramLimits, ProgramNotFound
from tests.system.services import until

LIMIT = 20.0
ROOT = Path(__file__).parents[3]
ENVIRONMENT = {"PATH": "/usr/bin:/bin"}


class InitHost:
    """A running init and the service's end of its channel."""

    def __init__(self) -> None:
        own, there = pair()
        os.set_inheritable(there.fileno(), True)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.desktop.launch.init_host", str(there.fileno())],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            pass_fds=(there.fileno(),),
        )
        there.close()
        self.channel = own
        self.launcher = InitLauncher(own, Lock())

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(LIMIT)
        self.channel.close()


@pytest.fixture(scope="module")
def host() -> Iterator[InitHost]:
    # As for the background job of a shell.
    before = signal.signal(signal.SIGQUIT, signal.SIG_IGN)
    host = InitHost()
    signal.signal(signal.SIGQUIT, before)
    host.launcher.fix_users({"agent": None})
    yield host
    host.close()


@pytest.fixture
def launcher(host: InitHost) -> InitLauncher:
    return host.launcher


def shell(script: str, **more: object) -> Program:
    return Program(("sh", "-c", script), ENVIRONMENT, **more)  # type: ignore[arg-type]


def output(launcher: InitLauncher, program: Program) -> str:
    """Return what a program writes until it ends."""
    reading, writing = os.pipe()
    with os.fdopen(reading) as file:
        try:
            running = launcher.start(program, (writing,))
        finally:
            os.close(writing)
        text = file.read()
    code(running)
    return text


def typed_out(controller: int) -> bytes:
    """Return what a terminal shows until its last program has closed it."""
    text = b""
    # EIO is the end (pty(7)).
    with suppress(OSError):
        while more := os.read(controller, 4096):
            text += more
    return text


def code(running: InitProgram) -> int:
    """Wait for the end of a program."""
    assert select.select([running], [], [], LIMIT)[0]
    found = running.poll()
    assert found is not None
    running.close()
    running.close()
    return found


def test_a_program_leads_its_session_in_its_directory(
    launcher: InitLauncher, tmp_path: Path
) -> None:
    script = "pwd; ps -o sid= -p $$; echo $$; umask; ls /proc/$$/fd; echo $GREETING"
    program = shell(script, directories=(str(tmp_path),), descriptors=(1,))
    program = program._replace(environment={**ENVIRONMENT, "GREETING": "hello"})
    place, session, pid, umask, *numbers, greeting = output(launcher, program).split()
    assert (place, session, umask, greeting) == (str(tmp_path), pid, "0027", "hello")
    assert numbers == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("script", "expected"),
    [("exit 0", 0), ("exit 7", 7), ("kill -KILL $$", -9), ("kill -TERM $$", -15)],
)
def test_its_exit_is_reported(launcher: InitLauncher, script: str, expected: int) -> None:
    assert code(launcher.start(shell(script, descriptors=()))) == expected


def test_signals_have_their_default_effect(launcher: InitLauncher) -> None:
    text = output(launcher, shell("cat /proc/self/status", descriptors=(1,)))
    masks = {line.split()[0]: line.split()[1] for line in text.splitlines() if "Sig" in line}
    # Signals 32 and 33 are the C library's (nptl(7)). posix_spawn(3) ignores them in its children,
    # such as those of make, and no program can change that.
    reserved = 0b11 << 31
    found = {int(masks[name], 16) & ~reserved for name in ("SigBlk:", "SigIgn:", "SigCgt:")}
    assert found == {0}


def test_descriptors_get_their_numbers(launcher: InitLauncher) -> None:
    with Path("/dev/null").open("w") as null:
        passed = [*os.pipe(), null.fileno()]
        # A number that is also one of the passed descriptors there.
        program = shell("echo to_five >&5; echo to_one", descriptors=(3, 5, 1))
        running = launcher.start(program, passed)
    assert code(running) == 0
    os.close(passed[1])
    with os.fdopen(passed[0]) as file:
        assert file.read() == "to_five\n"


def test_the_first_directory_that_exists_is_taken(launcher: InitLauncher, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    places = (str(tmp_path / "absent"), str(tmp_path / "file"), str(tmp_path))
    running = launcher.start(shell("true", directories=places, descriptors=()))
    assert running.directory == str(tmp_path)
    assert code(running) == 0
    anywhere = launcher.start(shell("true", descriptors=()))
    assert anywhere.directory == "/"
    assert code(anywhere) == 0


def test_what_prevents_a_start_is_reported(launcher: InitLauncher, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "text").write_text("no program")
    (tmp_path / "text").chmod(0o700)
    with pytest.raises(FileNotFoundError, match="No such file or directory: '/absent'"):
        launcher.start(shell("true", directories=("/absent",), descriptors=()))
    with pytest.raises(NotADirectoryError, match="file"):
        launcher.start(shell("true", directories=(str(tmp_path / "file"),), descriptors=()))
    # The directory that was refused is named, not the last one.
    places = (str(tmp_path / ("x" * 300)), str(tmp_path))
    with pytest.raises(OSError, match=r"File name too long: .*xxx'"):
        launcher.start(shell("true", directories=places, descriptors=()))
    for name in ("no-such-program", "./absent"):
        with pytest.raises(ProgramNotFound, match=name):
            launcher.start(Program((name,), ENVIRONMENT, descriptors=()))
    with pytest.raises(ProgramNotFound):
        launcher.start(Program(("sh",), {"PATH": ""}, descriptors=()))
    with pytest.raises(OSError, match=r"Exec format error: .*text"):
        launcher.start(Program((str(tmp_path / "text"),), ENVIRONMENT, descriptors=()))
    with pytest.raises(OSError, match="Invalid argument: 'sh'"):
        launcher.start(shell("nul \0 inside", descriptors=()))
    with pytest.raises(OSError, match="terminal"):
        launcher.start(shell("true", descriptors=(), terminal=0))


def test_an_unknown_user_is_refused(launcher: InitLauncher) -> None:
    with pytest.raises(OSError, match="browser"):
        launcher.start(shell("true", user="browser"))


@pytest.mark.parametrize("request_name", ["view", "limit", "users"])
def test_the_desktop_cannot_be_changed_once_its_users_are_fixed(
    launcher: InitLauncher, request_name: str
) -> None:
    with pytest.raises(OSError, match=request_name):
        launcher._ask({"do": request_name})


def test_a_terminal_controls_its_program(launcher: InitLauncher) -> None:
    controller, terminal = os.openpty()
    program = shell("tty; echo here > /dev/tty; stty size; read line; echo $line", terminal=0)
    running = launcher.start(program, (terminal,) * 3)
    os.close(terminal)
    os.write(controller, b"typed\n")
    assert code(running) == 0
    text = typed_out(controller)
    os.close(controller)
    assert b"/dev/pts/" in text
    assert b"here" in text


def test_limits_are_those_of_the_program(launcher: InitLauncher) -> None:
    limits = ProgramLimits(700, 3, 1 << 30, 60, 77, 4000)
    script = "cat /proc/$$/oom_score_adj; nice; ulimit -v; ulimit -t; ulimit -n; ulimit -p || :"
    found = output(launcher, shell(script, descriptors=(1,), limits=limits)).split()
    assert found[:5] == ["700", "3", str(1 << 20), "60", "77"]
    assert output(launcher, shell("ulimit -n", descriptors=(1,))).split() == [
        str(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    ]


@pytest.mark.parametrize(("bounds", "expected"), [(True, "unlimited"), (False, str(1 << 20))])
def test_a_control_group_is_entered(
    launcher: InitLauncher, tmp_path: Path, bounds: bool, expected: str
) -> None:
    (tmp_path / "cgroup.procs").touch()
    limits = ProgramLimits(memory_bytes=1 << 30, cgroup=str(tmp_path), cgroup_bounds_memory=bounds)
    assert output(launcher, shell("ulimit -v", descriptors=(1,), limits=limits)).strip() == expected
    assert (tmp_path / "cgroup.procs").read_text() == "0"


def test_a_signal_reaches_the_group_of_a_program(launcher: InitLauncher) -> None:
    reading, writing = os.pipe()
    running = launcher.start(shell("sleep 600 & echo; wait", descriptors=(1,)), (writing,))
    os.close(writing)
    with os.fdopen(reading) as file:
        assert file.readline() == "\n"
        assert running.poll() is None
        running.signal(signal.SIGTERM)
        assert code(running) == -signal.SIGTERM
        # The sleeping one held the pipe too.
        assert file.read() == ""
    running.signal(signal.SIGTERM)
    launcher.signal(running._number, signal.SIGTERM, last=True)


def test_the_rest_of_a_group_ends_with_a_program_that_was_asked_to(launcher: InitLauncher) -> None:
    reading, writing = os.pipe()
    script = "(trap '' TERM; echo; sleep 600) & wait"
    running = launcher.start(shell(script, descriptors=(1,)), (writing,))
    os.close(writing)
    with os.fdopen(reading) as file:
        assert file.readline() == "\n"
        running.signal(signal.SIGTERM, last=True)
        assert code(running) == -signal.SIGTERM
        assert file.read() == ""


def test_programs_are_started_by_many_threads_at_once(launcher: InitLauncher) -> None:
    codes: list[int] = []

    def start() -> None:
        codes.extend(
            code(launcher.start(shell(f"exit {number}", descriptors=()))) for number in range(8)
        )

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT)
    assert sorted(codes) == sorted([*range(8)] * 4)


def test_a_program_whose_service_does_not_wait_is_reaped(
    host: InitHost, launcher: InitLauncher
) -> None:
    forgotten = launcher.start(shell("read line", descriptors=()))
    forgotten.close()
    pidfd = os.pidfd_open(forgotten.pid) if Path(f"/proc/{forgotten.pid}").exists() else -1
    if pidfd >= 0:
        assert select.select([pidfd], [], [], LIMIT)[0]
        os.close(pidfd)
    assert code(launcher.start(shell("exit 3", descriptors=()))) == 3


def test_a_family_is_signalled_and_ended(launcher: InitLauncher) -> None:
    mark = f"MARK={uuid4()}"
    reading, writing = os.pipe()
    # Neither has the group of the program, and one ignores SIGTERM.
    script = (
        "setsid sh -c 'trap \"\" TERM; echo; sleep 600' & setsid sh -c 'echo; sleep 600' & wait"
    )
    program = shell(script, descriptors=(1,))
    program = program._replace(environment={**ENVIRONMENT, "MARK": mark.partition("=")[2]})
    running = launcher.start(program, (writing,))
    os.close(writing)
    with os.fdopen(reading) as file:
        assert [file.readline() for _ in range(2)] == ["\n"] * 2
        spared = Family(markers=(mark.encode(),), spared=frozenset({running.pid}))
        assert launcher.send(spared, 0) >= 2
        assert launcher.end(spared, 0.1)
        assert launcher.send(spared, 0) == 0
        assert code(running) == 0
        assert launcher.end(Family(markers=(mark.encode(),)), 0.1)
        assert file.read() == ""


def test_single_processes_are_stopped_and_continued(host: InitHost, launcher: InitLauncher) -> None:
    running = launcher.start(Program(("sleep", "600"), ENVIRONMENT, descriptors=()))
    processes = launcher.processes()
    found = {one.pid: one for one in processes.table()}[running.pid]
    assert (found.name, found.parent, found.uid) == ("sleep", host.process.pid, os.getuid())
    assert found.arguments[:2] == ("sleep", "600")
    assert processes.stop(found)
    until(lambda: {one.pid: one for one in processes.table()}[running.pid].stopped, "the stop")
    processes.resume(found)
    until(lambda: not {one.pid: one for one in processes.table()}[running.pid].stopped, "the run")
    processes.close()
    processes.close()
    assert running.pid in {one.pid for one in processes.table()}
    processes.close()
    running.signal(signal.SIGKILL)
    assert code(running) == -signal.SIGKILL


def children(host: InitHost) -> set[int]:
    text = Path(f"/proc/{host.process.pid}/task/{host.process.pid}/children").read_text()
    return {int(word) for word in text.split()}


def spare(host: InitHost) -> int:
    """Return the process that waits for the next program; the other child is the service."""
    until(lambda: len(children(host)) == 2, "the spare process")
    return max(children(host), key=lambda pid: "cat" not in Path(f"/proc/{pid}/comm").read_text())


def test_a_lost_control_process_is_replaced(host: InitHost, launcher: InitLauncher) -> None:
    waiting, processes = spare(host), launcher.processes()
    processes.table()
    (control,) = (pid for pid in children(host) if is_control(pid, waiting))
    os.kill(control, signal.SIGKILL)
    until(lambda: control not in children(host), "the end of the control process")
    assert processes.table()
    processes.close()


def is_control(pid: int, waiting: int) -> bool:
    return pid != waiting and "cat" not in Path(f"/proc/{pid}/comm").read_text()


def test_a_lost_spare_process_is_replaced(host: InitHost, launcher: InitLauncher) -> None:
    assert code(launcher.start(shell("exit 1", descriptors=()))) == 1
    os.kill(spare(host), signal.SIGKILL)
    assert code(launcher.start(shell("exit 2", descriptors=()))) == 2
    assert code(launcher.start(shell("exit 3", descriptors=()))) == 3


def test_a_program_that_does_not_start_in_time_is_killed(host: InitHost) -> None:
    impatient = InitLauncher(host.channel, Lock(), longest_start=0.1)
    stopped = spare(host)
    os.kill(stopped, signal.SIGSTOP)
    with pytest.raises(TimeoutError):
        impatient.start(shell("exit 1", descriptors=()))
    until(lambda: stopped not in children(host), "the end of the process")


def test_the_end_of_init_is_the_end_of_its_programs() -> None:
    host = InitHost()
    host.launcher.fix_users({"agent": None})
    running = host.launcher.start(shell("sleep 600", descriptors=()))
    host.process.kill()
    host.process.wait(LIMIT)
    assert select.select([running], [], [], LIMIT)[0]
    assert running.poll() == -signal.SIGKILL
    running.close()
    with pytest.raises(OSError, match="init has ended"):
        host.launcher.start(shell("true", descriptors=()))
    host.launcher.signal(1, signal.SIGTERM, last=False)
    os.killpg(running.pid, signal.SIGKILL)
    host.close()
