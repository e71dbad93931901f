"""Spawns children from one thread that lives as long as the service.

PR_SET_PDEATHSIG (prctl(2)) is bound to the *thread* that forked, so a child started from a
short-lived pool thread would be killed when that thread ends. Popen also blocks for milliseconds,
which is too long for the event loop.
"""

import asyncio
import os
import resource
import shutil
import subprocess
import termios
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from threading import Thread

from .cgroups import Cgroup
from .errors import StartFailed
from .output_file import OutputFile
from .requests import Terminal


@dataclass(frozen=True)
class ResourceLimits:
    """Resource limits of a command."""

    oom_score_adj: int = 500
    """OOM killer preference (proc(5)): a command is killed before the display."""
    nice: int = 0
    memory_bytes: int | None = None
    """Address space of each process; with ``cgroup`` the memory of the whole command."""
    cpu_seconds: int | None = None
    open_files: int | None = None
    processes: int | None = None
    """Processes and threads of the user (RLIMIT_NPROC), for the command and its descendants."""
    cpus: float | None = None
    """CPU time in processors, for the whole command; only with ``cgroup``."""
    cgroup: Path | None = None
    """Directory of a delegated control group, the parent of one group for each command."""


@dataclass(frozen=True)
class SpawnRequest:
    """A command to start, with its environment and limits."""

    command: str
    find_workdir: Callable[[], Path]
    """Returns the working directory; called in the spawn thread, as it accesses the disk."""
    environment: Mapping[str, str]
    limits: ResourceLimits = field(default_factory=ResourceLimits)
    stdin: bool = False
    terminal: Terminal | None = None
    """Size of the terminal to run in; None for a pipe."""
    copy: Callable[[], OutputFile | None] = lambda: None
    """Opens the file that output is copied to; called in the spawn thread."""


@dataclass(frozen=True)
class Spawned:
    """A running child; the receiver owns the descriptors and the copy and closes them."""

    child: subprocess.Popen[bytes]
    pidfd: int
    output: int
    input: int | None
    workdir: Path
    copy: OutputFile | None
    terminal: bool
    cgroup: Cgroup | None = None


class Spawner:
    """The spawn thread. ``open`` starts it; ``close`` ends it and every running child."""

    def __init__(self) -> None:
        self._requests: SimpleQueue[tuple[SpawnRequest, Future[Spawned]] | None] = SimpleQueue()
        self._thread = Thread(target=self._work, name="spawn", daemon=True)
        self._setpriv: str | None = None
        self._prlimit: str | None = None

    def open(self) -> None:
        """Start the thread."""
        self._setpriv = shutil.which("setpriv")
        self._prlimit = shutil.which("prlimit")
        self._thread.start()

    def close(self) -> None:
        """End the thread; the parent-death signal then kills its children."""
        self._requests.put(None)
        if self._thread.is_alive():
            self._thread.join()

    async def spawn(self, request: SpawnRequest) -> Spawned:
        """Start a child.

        Raises:
            StartFailed: If there is no shell or no such directory, or the system refuses.
        """
        result: Future[Spawned] = Future()
        self._requests.put((request, result))
        return await asyncio.wrap_future(result)

    def _work(self) -> None:
        while (item := self._requests.get()) is not None:
            request, result = item
            # A caller that was cancelled while its request was in the queue must not start
            # anything.
            if not result.set_running_or_notify_cancel():
                continue
            try:
                result.set_result(self._start(request))
            except StartFailed as error:
                result.set_exception(error)
            except (OSError, ValueError) as error:
                result.set_exception(StartFailed(str(error)))

    def _start(self, request: SpawnRequest) -> Spawned:
        shell = shutil.which("sh", path=request.environment.get("PATH", os.defpath))
        if shell is None:
            raise StartFailed('"sh": executable file not found in $PATH')
        workdir = request.find_workdir()
        # setpriv replaces itself with the shell (execve), which keeps the pid and the death signal.
        guard = [self._setpriv, "--pdeathsig", "KILL", "--"] if self._setpriv else []
        if request.limits.processes is not None and self._prlimit:
            # Before the shell runs: a child that it forked earlier would keep the old limit.
            guard = [self._prlimit, f"--nproc={request.limits.processes}", *guard]
        with ExitStack() as after, ExitStack() as on_failure:
            # The copy is opened before the fork, so that an unusable output_path starts nothing.
            copy = request.copy()
            if copy is not None:
                on_failure.callback(copy.close)
            ends = _ends(request)
            after.callback(os.close, ends.child)
            on_failure.callback(os.close, ends.output)
            child = subprocess.Popen(
                [*guard, *ends.arguments(shell, request.command)],
                cwd=str(workdir),
                env=dict(request.environment),
                # Without input, a command that reads gets end-of-file instead of waiting for ever.
                stdin=subprocess.PIPE if request.stdin and not ends.tty else subprocess.DEVNULL,
                stdout=ends.child,
                stderr=ends.child,
                # The group id equals the pid then, which `Process.signal` relies on.
                start_new_session=True,
            )
            # ExitStack calls back in reverse order: the child is killed first and then reaped.
            on_failure.callback(child.wait)
            on_failure.callback(child.kill)
            cgroup = _restrict(child.pid, request.limits)
            # Input and output of a terminal are one descriptor, but `Process` closes them
            # separately.
            stdin_fd = os.dup(ends.output) if ends.tty else _detached(child)
            if stdin_fd is not None:
                on_failure.callback(os.close, stdin_fd)
            pidfd = os.pidfd_open(child.pid)
            on_failure.pop_all()
        return Spawned(child, pidfd, ends.output, stdin_fd, workdir, copy, bool(ends.tty), cgroup)


@dataclass(frozen=True)
class _Ends:
    """Both ends of a child's output, a pipe or a pseudo-terminal."""

    output: int
    child: int
    tty: str = ""

    def arguments(self, shell: str, command: str) -> list[str]:
        if not self.tty:
            return [shell, "-c", command]
        # A terminal that a session leader without one opens becomes its controlling terminal
        # (tty_ioctl(4)), without O_NOCTTY.
        return [shell, "-c", _ENTER_TERMINAL, shell, self.tty, command]


_ENTER_TERMINAL = 'exec <>"$1" >&0 2>&0; exec "$0" -c "$2"'


def _ends(request: SpawnRequest) -> _Ends:
    if request.terminal is None:
        reading, writing = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        # Programs expect blocking output: a full pipe would fail with EAGAIN and lose the text.
        os.set_blocking(writing, True)
        return _Ends(reading, writing)
    controller, terminal = os.openpty()
    termios.tcsetwinsize(controller, (request.terminal.rows, request.terminal.columns))
    os.set_blocking(controller, False)
    return _Ends(controller, terminal, os.ttyname(terminal))


def _detached(child: subprocess.Popen[bytes]) -> int | None:
    """Duplicate the child's stdin, because Popen closes its own when it is garbage-collected."""
    if child.stdin is None:
        return None
    with child.stdin:
        stdin_fd = os.dup(child.stdin.fileno())
    os.set_blocking(stdin_fd, False)
    return stdin_fd


def _restrict(pid: int, limits: ResourceLimits) -> Cgroup | None:
    """Apply limits from the parent: ``preexec_fn`` is unsafe in a process with threads."""
    cgroup = None
    if limits.cgroup is not None:
        cgroup = Cgroup.made(limits.cgroup, pid, limits.memory_bytes, limits.cpus)
    with suppress(OSError):
        Path(f"/proc/{pid}/oom_score_adj").write_text(str(limits.oom_score_adj))
    if limits.nice:
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, pid, limits.nice)
    bounds: list[tuple[int, int | None]] = [
        # RLIMIT_AS counts reserved address space too, so memory.max replaces it where it is set.
        (resource.RLIMIT_AS, None if cgroup and cgroup.bounds_memory else limits.memory_bytes),
        (resource.RLIMIT_CPU, limits.cpu_seconds),
        (resource.RLIMIT_NOFILE, limits.open_files),
    ]
    for kind, bound in bounds:
        if bound is not None:
            # Only a privileged process may raise a hard limit (prlimit(2)); the lower one stays
            # then.
            with suppress(OSError, ValueError):
                resource.prlimit(pid, kind, (bound, bound))
    return cgroup
