"""Child processes: spawned from one thread, watched by pidfd, and ended by process group."""

import os
import queue
import selectors
import shutil
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from deskhand.desktop.errors import MissingProgram
from deskhand.desktop.programs.child_launcher import ChildLauncher
from deskhand.desktop.programs.launcher import ProgramLauncher, RunningProgram
from deskhand.desktop.programs.process_tree import Family
from deskhand.desktop.programs.program import Program, ProgramLimits, UserName

PACKAGES = {
    "Xvfb": "xvfb",
    "Xvnc": "tigervnc-standalone-server",
    "dbus-daemon": "dbus-daemon",
    "openbox": "openbox",
    "prlimit": "util-linux",
    "setpriv": "util-linux",
    "setxkbmap": "x11-xkb-utils",
    "tint2": "tint2",
    "xterm": "xterm",
}
"""Debian package of each program."""

_PROGRAM_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
_LOG_TAIL_BYTES = 2000
_FIRST_LISTENER = 3
_LISTENING = 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"'
"""SD_LISTEN_FDS_START, and the variables that name the process that listens (sd_listen_fds(3))."""


def find_program(name: str, path: str | None = None) -> str:
    """Return the absolute path of an installed program.

    Raises:
        MissingProgram: With the name of its package.
    """
    found = shutil.which(name, path=path or os.environ.get("PATH", _PROGRAM_PATH))
    if found is None:
        raise MissingProgram(name, PACKAGES.get(name, name))
    return found


@dataclass(frozen=True)
class ChildCommand:
    """Command line of a child process, with its environment and log."""

    argv: Sequence[str]
    environment: Mapping[str, str]
    log: Path
    cwd: Path | None = None
    pass_fds: tuple[int, ...] = ()
    """Descriptors that have the same numbers in the child."""
    listener: int | None = None
    """Descriptor of a listening socket, which has the number of sd_listen_fds(3) in the child."""
    user: UserName = "service"
    on_exit: Callable[["ChildProcess"], None] | None = None
    """Called in the spawn thread after the exit; may call ``spawn``."""


@dataclass
class ChildProcess:
    """A process that leads its own session (setsid(2)); ``pid`` is also its process group."""

    name: str
    program: RunningProgram
    log: Path
    host_pid: int | None = None
    """Pid outside of the desktop's PID namespace; None if it ended before it was known."""
    exited: threading.Event = field(default_factory=threading.Event)
    returncode: int | None = None
    ending: bool = False
    """Set before the first signal, which distinguishes a requested exit from a crash."""

    @property
    def pid(self) -> int:
        """Pid as this process sees it."""
        return self.program.pid

    @property
    def running(self) -> bool:
        """True until the process has been reaped."""
        return not self.exited.is_set()

    def log_tail(self) -> str:
        """Return the last lines of the log."""
        try:
            with self.log.open("rb") as file:
                file.seek(max(0, self.log.stat().st_size - _LOG_TAIL_BYTES))
                return file.read().decode("utf-8", "replace").strip()
        except OSError:
            return ""

    def stop(self, grace: float = 2.0) -> None:
        """End the whole group: SIGTERM, at most ``grace`` seconds, then SIGKILL."""
        self.terminate()
        if not self.exited.wait(grace):
            self.program.signal(signal.SIGKILL)
            self.exited.wait(2.0)

    def terminate(self) -> None:
        """Send SIGTERM to the group without waiting; the exit does not count as a crash."""
        self.ending = True
        self.program.signal(signal.SIGTERM, last=True)

    def kill(self) -> None:
        """Send SIGKILL to the group at once; the exit counts as a crash."""
        self.program.signal(signal.SIGKILL)


class ChildProcessSpawner:
    """Spawns children that die with this process: the kernel kills them with the spawn thread.

    PR_SET_PDEATHSIG (prctl(2)) is bound to the thread that forked, not to its process. Therefore
    all children are forked by this one thread, which runs until ``close``. ``host_pid`` returns the
    pid on the host for the pid of a child. ``processes`` limits those of the user (RLIMIT_NPROC).
    ``launcher`` starts programs of other users than the service's, by default as its children too.
    """

    def __init__(
        self,
        host_pid: Callable[[int], int] = int,
        processes: int | None = None,
        launcher: ProgramLauncher | None = None,
    ) -> None:
        self._host_pid = host_pid
        self._limits = ProgramLimits(processes=processes)
        self._own: ProgramLauncher = ChildLauncher()
        self._launcher = launcher or self._own
        self._children: dict[int, tuple[ChildProcess, ChildCommand]] = {}
        self._requests: queue.SimpleQueue[tuple[ChildCommand, Future[ChildProcess]] | None] = (
            queue.SimpleQueue()
        )
        self._wake = -1
        self._thread = threading.Thread(target=self._run, name="spawn", daemon=True)
        self._closed = False

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def open(self) -> None:
        """Start the thread.

        Raises:
            MissingProgram: If ``setpriv`` is not installed.
        """
        find_program("setpriv")
        if self._limits.processes is not None:
            find_program("prlimit")
        self._wake = os.eventfd(0)
        self._thread.start()

    def pids(self) -> frozenset[int]:
        """Return the pids of the service's children that run. Any thread may call it."""
        children = self._children.copy().values()
        return frozenset(child.pid for child, command in children if command.user == "service")

    def spawn(self, command: ChildCommand) -> ChildProcess:
        """Start a process; its output is appended to the log.

        Raises:
            MissingProgram: If the program is not on the command's PATH.
        """
        # An `on_exit` callback that spawns would wait for itself if its request went through the
        # queue.
        if threading.current_thread() is self._thread:
            return self._start(command)
        future: Future[ChildProcess] = Future()
        self._requests.put((command, future))
        os.eventfd_write(self._wake, 1)
        return future.result()

    def end_marked(self, marker: str, grace: float = 1.0) -> None:
        """End all processes with a variable of their environment (``NAME=value``), children or not.

        They get SIGTERM, and SIGKILL after ``grace`` seconds.
        """
        # Entries end with NUL (proc(5)): a longer value is not this one.
        self._launcher.end(Family(markers=(marker.encode() + b"\0",)), grace)

    def close(self, grace: float = 2.0) -> None:
        """End all running children, in reverse order of their start, and the thread."""
        if self._closed or self._wake < 0:
            return
        self._closed = True
        deadline = time.monotonic() + grace
        children = [child for child, _ in reversed(self._children.copy().values())]
        # All get SIGTERM first, so that they end side by side and share one grace period.
        for child in children:
            child.terminate()
        for child in children:
            child.stop(max(0.0, deadline - time.monotonic()))
        self._requests.put(None)
        os.eventfd_write(self._wake, 1)
        self._thread.join()
        os.close(self._wake)

    def _run(self) -> None:
        with selectors.DefaultSelector() as selector:
            self._selector = selector
            selector.register(self._wake, selectors.EVENT_READ)
            serving = True
            # The thread outlives its children: its end would raise their parent-death signal, and
            # nothing else reaps them.
            while serving or self._children:
                for key, _ in selector.select():
                    if key.data is not None:
                        self._reap(key.data)
                        continue
                    os.eventfd_read(self._wake)
                    serving = self._serve()
                    if not serving:
                        self._kill_rest()

    def _kill_rest(self) -> None:
        # An `on_exit` callback may have spawned these while `close` was ending the others.
        for child, _ in self._children.values():
            child.ending = True
            child.program.signal(signal.SIGKILL, last=True)

    def _serve(self) -> bool:
        while True:
            try:
                item = self._requests.get_nowait()
            except queue.Empty:
                return True
            if item is None:
                return False
            command, future = item
            try:
                future.set_result(self._start(command))
            except (OSError, MissingProgram) as error:
                future.set_exception(error)

    def _start(self, command: ChildCommand) -> ChildProcess:
        program = find_program(command.argv[0], command.environment.get("PATH"))
        command.log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        cwd = () if command.cwd is None else (str(command.cwd),)
        argv = (program, *command.argv[1:])
        passed = {one: one for one in command.pass_fds}
        if command.listener is not None:
            argv = ("sh", "-c", _LISTENING, "sh", *argv)
            passed[_FIRST_LISTENER] = command.listener
        started = Program(
            argv,
            command.environment,
            cwd,
            descriptors=(1, 2, *passed),
            user=command.user,
            limits=self._limits,
        )
        launcher = self._own if command.user == "service" else self._launcher
        with command.log.open("ab") as log:
            running = launcher.start(started, (log.fileno(), log.fileno(), *passed.values()))
        child = ChildProcess(Path(program).name, running, command.log)
        # A process that has ended already has no pid on the host any more.
        with suppress(OSError):
            child.host_pid = self._host_pid(child.pid)
        # Init may have reaped another child of this pid before its exit is read here.
        self._children[running.fileno()] = (child, command)
        self._selector.register(running.fileno(), selectors.EVENT_READ, running.fileno())
        return child

    def _reap(self, descriptor: int) -> None:
        child, command = self._children[descriptor]
        self._selector.unregister(descriptor)
        # The program is reaped only now: it has ended, and its descriptor is readable.
        returncode = child.program.poll()
        del self._children[descriptor]
        child.program.close()
        child.returncode = returncode
        # `exited` follows the return code, which waiters read without a lock.
        child.exited.set()
        if command.on_exit is not None:
            command.on_exit(child)
