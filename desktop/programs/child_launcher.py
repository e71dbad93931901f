"""Programs as children of the service, with its own user; the users of a program are ignored.

PR_SET_PDEATHSIG (prctl(2)) is bound to the *thread* that forked, so a child started from a
short-lived pool thread would be killed when that thread ends.
"""

import errno
import os
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Lock

from . import process_tree
from .process_tree import Family
from .program import Program, ProgramLimits, ProgramNotFound


class ChildProgram:
    """A child process that leads its own session; see `RunningProgram`."""

    def __init__(self, child: subprocess.Popen[bytes], directory: str, pidfd: int) -> None:
        self.pid = child.pid
        self.directory = directory
        self._child = child
        self._pidfd = pidfd
        self._reaping = Lock()
        self._last = False

    def fileno(self) -> int:
        """Return the pidfd."""
        return self._pidfd

    def poll(self) -> int | None:
        """Return the exit code, or None while the program runs."""
        with self._reaping:
            if self._last and self._child.returncode is None and _is_zombie(self.pid):
                # The leader is not reaped yet, so the kernel cannot have reused its group id.
                self._kill_group(signal.SIGKILL)
            # Popen.poll waits for this pid only: waitpid(-1) would reap other parts' children.
            return self._child.poll()

    def signal(self, number: int, *, last: bool = False) -> None:
        """Signal the process group; nothing happens if the program has been reaped."""
        with self._reaping:
            self._last = self._last or last
            if self._child.returncode is None:
                self._kill_group(number)

    def close(self) -> None:
        """Close the pidfd."""
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1

    def _kill_group(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


class ChildLauncher:
    """Starts children that die with the calling thread; ``clock`` measures grace periods."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._setpriv = shutil.which("setpriv")
        self._prlimit = shutil.which("prlimit")

    def start(self, program: Program, descriptors: Sequence[int] = ()) -> ChildProgram:
        """Start a child; see `ProgramLauncher`."""
        name = program.argv[0]
        path = shutil.which(name, path=program.environment.get("PATH", os.defpath))
        if path is None:
            raise ProgramNotFound(errno.ENOENT, os.strerror(errno.ENOENT), name)
        directory = _directory(program.directories)
        passed = dict(zip(program.descriptors, descriptors, strict=False))
        with ExitStack() as on_failure:
            child = subprocess.Popen(
                [*self._guard(program.limits), *_arguments(program, path, passed)],
                cwd=directory or None,
                env=dict(program.environment),
                stdin=passed.get(0, subprocess.DEVNULL),
                stdout=passed.get(1, subprocess.DEVNULL),
                stderr=passed.get(2, subprocess.DEVNULL),
                pass_fds=[one for number, one in passed.items() if number > 2],
                # The group id equals the pid then, which `ChildProgram.signal` relies on.
                start_new_session=True,
            )
            # ExitStack calls back in reverse order: the child is killed first and then reaped.
            on_failure.callback(child.wait)
            on_failure.callback(child.kill)
            _restrict(child.pid, program.limits)
            pidfd = os.pidfd_open(child.pid)
            on_failure.pop_all()
        return ChildProgram(child, directory or os.getcwd(), pidfd)  # noqa: PTH109 - a text

    def send(self, family: Family, number: int) -> int:
        """Signal every live member of a family, and return their number."""
        return process_tree.send(family, signal.Signals(number))

    def end(self, family: Family, grace: float) -> bool:
        """End a family; see `ProgramLauncher`."""
        return process_tree.end(family, grace, self._clock)

    def _guard(self, limits: ProgramLimits) -> list[str]:
        # setpriv replaces itself with the program (execve), which keeps the pid and the signal.
        guard = [self._setpriv, "--pdeathsig", "KILL", "--"] if self._setpriv else []
        if limits.processes is not None and self._prlimit:
            # Before the program runs: a child that it forked earlier would keep the old limit.
            guard = [self._prlimit, f"--nproc={limits.processes}", *guard]
        return guard


_ENTER_TERMINAL = 'exec <>"$1" >&0 2>&0; shift; exec "$@"'


def _arguments(program: Program, path: str, passed: dict[int, int]) -> list[str]:
    arguments = [path, *program.argv[1:]]
    if program.terminal is not None:
        # A terminal that a session leader without one opens becomes its controlling terminal
        # (tty_ioctl(4)), without O_NOCTTY.
        terminal = os.ttyname(passed[program.terminal])
        return ["sh", "-c", _ENTER_TERMINAL, "sh", terminal, *arguments]
    moved = {number: one for number, one in passed.items() if number > 2 and number != one}
    if not moved:
        return arguments
    # dash moves descriptors of one digit only.
    moves = "".join(f" {number}<&{one} {one}<&-" for number, one in moved.items())
    return ["bash", "-c", f'exec{moves}; exec "$@"', "bash", *arguments]


def _directory(directories: Sequence[str]) -> str:
    for directory in directories[:-1]:
        if Path(directory).is_dir():
            return directory
    return directories[-1] if directories else ""


def _is_zombie(pid: int) -> bool:
    flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
    with suppress(ChildProcessError):
        return os.waitid(os.P_PID, pid, flags) is not None
    return False


def _restrict(pid: int, limits: ProgramLimits) -> None:
    """Apply limits from the parent: ``preexec_fn`` is unsafe in a process with threads."""
    bounded = False
    if limits.cgroup:
        with suppress(OSError):
            _write(f"{limits.cgroup}/cgroup.procs", str(pid))
            bounded = limits.cgroup_bounds_memory
    if limits.oom_score_adj is not None:
        with suppress(OSError):
            _write(f"/proc/{pid}/oom_score_adj", str(limits.oom_score_adj))
    if limits.nice:
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, pid, limits.nice)
    bounds: list[tuple[int, int | None]] = [
        # RLIMIT_AS counts reserved address space too, so memory.max replaces it where it is set.
        (resource.RLIMIT_AS, None if bounded else limits.memory_bytes),
        (resource.RLIMIT_CPU, limits.cpu_seconds),
        (resource.RLIMIT_NOFILE, limits.open_files),
    ]
    for kind, bound in bounds:
        if bound is not None:
            # Only a privileged process may raise a hard limit (prlimit(2)); the lower one stays
            # then.
            with suppress(OSError, ValueError):
                resource.prlimit(pid, kind, (bound, bound))


def _write(path: str, value: str) -> None:
    # O_CREAT cannot create a file in cgroupfs, so a missing interface file is an error there.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, value.encode())
    finally:
        os.close(descriptor)
