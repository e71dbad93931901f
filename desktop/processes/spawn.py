"""Start children from one thread that lives as long as the service.

A parent-death signal follows the *thread* that forked, so a child started from a short-lived pool
thread would be killed when that thread ends. And Popen takes milliseconds: it has no place on the
event loop.
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
    """What a command may take of the machine."""

    oom_score_adj: int = 500
    """A build that eats all memory dies before the display does."""
    nice: int = 0
    memory_bytes: int | None = None
    """Address space of each process; with ``cgroup`` the memory of the whole command."""
    cpu_seconds: int | None = None
    open_files: int | None = None
    cpus: float | None = None
    """Processors' worth of time, for the whole command; only with ``cgroup``."""
    cgroup: Path | None = None
    """Directory of a delegated control group: below it each command has one of its own."""


@dataclass(frozen=True)
class SpawnRequest:
    """A command line to start."""

    command: str
    place: Callable[[], Path]
    """Finds the directory to run it in; asks the disk, so it is called in the thread."""
    environment: Mapping[str, str]
    limits: ResourceLimits = field(default_factory=ResourceLimits)
    stdin: bool = False
    terminal: Terminal | None = None
    """Size of the terminal to run it in; None: output goes to a pipe."""
    copy: Callable[[], OutputFile | None] = lambda: None
    """Opens the file that output is copied to, in the thread."""


@dataclass(frozen=True)
class Spawned:
    """A running child; whoever holds this closes the descriptors and the copy."""

    child: subprocess.Popen[bytes]
    pidfd: int
    output: int
    input: int | None
    workdir: Path
    copy: OutputFile | None
    terminal: bool
    cgroup: Cgroup | None = None


class Spawner:
    """The thread that forks. ``open`` starts it; closing it ends every child that still lives."""

    def __init__(self) -> None:
        self._orders: SimpleQueue[tuple[SpawnRequest, Future[Spawned]] | None] = SimpleQueue()
        self._thread = Thread(target=self._work, name="spawn", daemon=True)
        self._setpriv: str | None = None

    def open(self) -> None:
        """Start the thread."""
        self._setpriv = shutil.which("setpriv")
        self._thread.start()

    def close(self) -> None:
        """End the thread; by the parent-death signal that ends its children too."""
        self._orders.put(None)
        if self._thread.is_alive():
            self._thread.join()

    async def spawn(self, order: SpawnRequest) -> Spawned:
        """Start a child.

        Raises:
            StartFailed: If there is no shell or no such directory, or the system refuses.
        """
        answer: Future[Spawned] = Future()
        self._orders.put((order, answer))
        return await asyncio.wrap_future(answer)

    def _work(self) -> None:
        while (item := self._orders.get()) is not None:
            order, answer = item
            if not answer.set_running_or_notify_cancel():
                continue
            try:
                answer.set_result(self._start(order))
            except StartFailed as error:
                answer.set_exception(error)
            except (OSError, ValueError) as error:
                answer.set_exception(StartFailed(str(error)))

    def _start(self, order: SpawnRequest) -> Spawned:
        shell = shutil.which("sh", path=order.environment.get("PATH", os.defpath))
        if shell is None:
            raise StartFailed('"sh": executable file not found in $PATH')
        workdir = order.place()
        guard = [self._setpriv, "--pdeathsig", "KILL", "--"] if self._setpriv else []
        with ExitStack() as after, ExitStack() as on_failure:
            copy = order.copy()
            if copy is not None:
                on_failure.callback(copy.close)
            ends = _ends(order)
            after.callback(os.close, ends.child)
            on_failure.callback(os.close, ends.output)
            child = subprocess.Popen(
                [*guard, *ends.arguments(shell, order.command)],
                cwd=str(workdir),
                env=dict(order.environment),
                stdin=subprocess.PIPE if order.stdin and not ends.tty else subprocess.DEVNULL,
                stdout=ends.child,
                stderr=ends.child,
                start_new_session=True,
            )
            on_failure.callback(child.wait)
            on_failure.callback(child.kill)
            cgroup = _restrict(child.pid, order.limits)
            given = os.dup(ends.output) if ends.tty else _detached(child)
            if given is not None:
                on_failure.callback(os.close, given)
            pidfd = os.pidfd_open(child.pid)
            on_failure.pop_all()
        return Spawned(child, pidfd, ends.output, given, workdir, copy, bool(ends.tty), cgroup)


@dataclass(frozen=True)
class _Ends:
    """Both ends of a child's output: a pipe's, or a terminal's."""

    output: int
    child: int
    tty: str = ""

    def arguments(self, shell: str, command: str) -> list[str]:
        if not self.tty:
            return [shell, "-c", command]
        # Opened by the leader of a session that has none, a terminal becomes its own.
        return [shell, "-c", _ENTER_TERMINAL, shell, self.tty, command]


_ENTER_TERMINAL = 'exec <>"$1" >&0 2>&0; exec "$0" -c "$2"'


def _ends(order: SpawnRequest) -> _Ends:
    if order.terminal is None:
        reading, writing = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        os.set_blocking(writing, True)
        return _Ends(reading, writing)
    controller, terminal = os.openpty()
    termios.tcsetwinsize(controller, (order.terminal.rows, order.terminal.columns))
    os.set_blocking(controller, False)
    return _Ends(controller, terminal, os.ttyname(terminal))


def _detached(child: subprocess.Popen[bytes]) -> int | None:
    """Take the child's stdin out of its Popen, which would close it when it is collected."""
    if child.stdin is None:
        return None
    with child.stdin:
        given = os.dup(child.stdin.fileno())
    os.set_blocking(given, False)
    return given


def _restrict(pid: int, limits: ResourceLimits) -> Cgroup | None:
    """Limit the child from outside: no Python runs between its fork and its exec."""
    cgroup = None
    if limits.cgroup is not None:
        cgroup = Cgroup.made(limits.cgroup, pid, limits.memory_bytes, limits.cpus)
    with suppress(OSError):
        Path(f"/proc/{pid}/oom_score_adj").write_text(str(limits.oom_score_adj))
    if limits.nice:
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, pid, limits.nice)
    bounds: list[tuple[int, int | None]] = [
        (resource.RLIMIT_AS, None if cgroup and cgroup.bounds_memory else limits.memory_bytes),
        (resource.RLIMIT_CPU, limits.cpu_seconds),
        (resource.RLIMIT_NOFILE, limits.open_files),
    ]
    for kind, bound in bounds:
        if bound is not None:
            with suppress(OSError, ValueError):
                resource.prlimit(pid, kind, (bound, bound))
    return cgroup
