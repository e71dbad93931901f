"""Starts commands from one thread that lives as long as the service.

A program that is a child of the service dies with the thread that started it (`child_launcher`).
A start also blocks for milliseconds, which is too long for the event loop.
"""

import asyncio
import os
import termios
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from uuid import uuid4

from deskhand.desktop.programs.child_launcher import ChildLauncher
from deskhand.desktop.programs.launcher import ProgramLauncher, RunningProgram
from deskhand.desktop.programs.program import Program, ProgramLimits, ProgramNotFound, UserName

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
    application_cgroup: Path | None = None
    """The same for programs that the service launches; None for that of commands."""


@dataclass(frozen=True)
class SpawnRequest:
    """A command to start, with its environment and limits."""

    command: str
    workdirs: Sequence[Path]
    """Working directory: the first of them that is a directory."""
    environment: Mapping[str, str]
    limits: ResourceLimits = field(default_factory=ResourceLimits)
    stdin: bool = False
    terminal: Terminal | None = None
    """Size of the terminal to run in; None for a pipe."""
    copy: Callable[[], OutputFile | None] = lambda: None
    """Opens the file that output is copied to; called in the spawn thread."""
    user: UserName = "agent"
    passed: tuple[int, ...] = ()
    """Descriptors that the command gets as 3, 4 and so on."""
    stoppable: bool = True
    """True for a command, which is stopped while a person or a secret types."""


@dataclass(frozen=True)
class Spawned:
    """A running command; the receiver owns the descriptors and the copy and closes them."""

    program: RunningProgram
    output: int
    input: int | None
    workdir: Path
    copy: OutputFile | None
    terminal: bool
    cgroup: Cgroup | None = None


class Spawner:
    """The spawn thread. ``open`` starts it; ``close`` ends it and every child of the service.

    By default commands are children of the service.
    """

    def __init__(self, launcher: ProgramLauncher | None = None) -> None:
        self._requests: SimpleQueue[tuple[SpawnRequest, Future[Spawned]] | None] = SimpleQueue()
        self._thread = Thread(target=self._work, name="spawn", daemon=True)
        self._launcher = launcher or ChildLauncher()
        self._starting: set[asyncio.Future[Spawned]] = set()

    def open(self) -> None:
        """Start the thread."""
        self._thread.start()

    def close(self) -> None:
        """End the thread; the parent-death signal then kills its children."""
        self._requests.put(None)
        if self._thread.is_alive():
            self._thread.join()

    async def spawn(self, request: SpawnRequest) -> Spawned:
        """Start a command.

        Raises:
            StartFailed: If there is no shell or no such directory, or the system refuses.
        """
        result: Future[Spawned] = Future()
        self._requests.put((request, result))
        started = asyncio.wrap_future(result)
        self._starting.add(started)
        started.add_done_callback(self._starting.discard)
        return await started

    async def settled(self) -> None:
        """Return when each start that is under way has ended, and its caller has continued."""
        if self._starting:
            # The callers wait for the same futures for longer, so they are woken first.
            await asyncio.wait(self._starting)

    def _work(self) -> None:
        while (item := self._requests.get()) is not None:
            request, result = item
            # A caller that was cancelled while its request was in the queue must not start
            # anything.
            if not result.set_running_or_notify_cancel():
                continue
            try:
                result.set_result(_start(request, self._launcher))
            except ProgramNotFound as error:
                reason = f'"{error.filename}": executable file not found in $PATH'
                result.set_exception(StartFailed(reason))
            except (OSError, ValueError) as error:
                result.set_exception(StartFailed(str(error)))


def _start(request: SpawnRequest, launcher: ProgramLauncher) -> Spawned:
    with ExitStack() as after, ExitStack() as on_failure:
        # The copy is opened before the fork, so that an unusable output_path starts nothing.
        copy = request.copy()
        if copy is not None:
            on_failure.callback(copy.close)
        ends = _ends(request, after, on_failure)
        passed = {**ends.passed, **dict(enumerate(request.passed, 3))}
        cgroup = _group(request.limits, stoppable=request.stoppable)
        if cgroup is not None:
            on_failure.callback(cgroup.remove)
        program = Program(
            argv=("sh", "-c", request.command),
            environment=request.environment,
            directories=tuple(map(str, request.workdirs)),
            descriptors=tuple(passed),
            terminal=None if request.terminal is None else 0,
            user=request.user,
            limits=_limits(request.limits, cgroup),
            stoppable=request.stoppable,
        )
        running = launcher.start(program, tuple(passed.values()))
        on_failure.pop_all()
    workdir, terminal = Path(running.directory), request.terminal is not None
    return Spawned(running, ends.output, ends.input, workdir, copy, terminal, cgroup)


@dataclass(frozen=True)
class _Ends:
    """Ends of a command's input and output."""

    output: int
    input: int | None
    passed: Mapping[int, int]
    """Descriptors of the command by their numbers in it."""


def _ends(request: SpawnRequest, after: ExitStack, on_failure: ExitStack) -> _Ends:
    """Open them; those of the command are closed by ``after``, ours by ``on_failure``."""
    if request.terminal is not None:
        controller, terminal = os.openpty()
        after.callback(os.close, terminal)
        on_failure.callback(os.close, controller)
        termios.tcsetwinsize(controller, (request.terminal.rows, request.terminal.columns))
        os.set_blocking(controller, False)
        # Input and output of a terminal are one descriptor, but `Process` closes them separately.
        typed = os.dup(controller)
        on_failure.callback(os.close, typed)
        return _Ends(controller, typed, {0: terminal, 1: terminal, 2: terminal})
    reading, writing = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    after.callback(os.close, writing)
    on_failure.callback(os.close, reading)
    # Programs expect blocking output: a full pipe would fail with EAGAIN and lose the text.
    os.set_blocking(writing, True)
    if not request.stdin:
        # Without input, a command that reads gets end-of-file instead of waiting for ever.
        return _Ends(reading, None, {1: writing, 2: writing})
    read, written = os.pipe2(os.O_CLOEXEC)
    after.callback(os.close, read)
    on_failure.callback(os.close, written)
    os.set_blocking(written, False)
    return _Ends(reading, written, {0: read, 1: writing, 2: writing})


def _group(limits: ResourceLimits, *, stoppable: bool) -> Cgroup | None:
    parent = limits.cgroup if stoppable else limits.application_cgroup or limits.cgroup
    if parent is None:
        return None
    # Pids are not unique among the desktops that may share the parent.
    name = f"command-{uuid4().hex}"
    return Cgroup.made(parent, name, limits.memory_bytes, limits.cpus)


def _limits(limits: ResourceLimits, cgroup: Cgroup | None) -> ProgramLimits:
    return ProgramLimits(
        oom_score_adj=limits.oom_score_adj,
        nice=limits.nice,
        memory_bytes=limits.memory_bytes,
        cpu_seconds=limits.cpu_seconds,
        open_files=limits.open_files,
        processes=limits.processes,
        cgroup="" if cgroup is None else str(cgroup.path),
        cgroup_bounds_memory=cgroup is not None and cgroup.bounds_memory,
    )
