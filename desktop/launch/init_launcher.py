"""Programs that init starts on request, with the rights of the desktop's users."""

import errno
import os
import selectors
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from threading import Lock

from deskhand.desktop.isolation.desktop_user import DesktopUser
from deskhand.desktop.programs.process_tree import Family
from deskhand.desktop.programs.program import Program, ProgramNotFound, UserName
from deskhand.desktop.programs.start_report import (
    DIRECTORY,
    EXECUTE,
    FIND,
    StartReport,
    parse_report,
)

from .channel import Channel, ChannelClosed, Message
from .init_processes import InitProcesses, control

LONGEST_START = 20.0
"""Seconds; a program of the agent may stop a new process of its user before it calls execve(2)."""


class InitLauncher:
    """Requests to init about programs. Any thread may call it; the calls block briefly.

    Every program dies with the service, because init ends then.
    """

    def __init__(self, init: Channel, asking: Lock, longest_start: float = LONGEST_START) -> None:
        """``longest_start`` is in seconds."""
        self._init = init
        self._longest_start = longest_start
        self._asking = asking

    def fix_users(self, users: Mapping[UserName, DesktopUser | None]) -> None:
        """Fix the ids of the users; from then on init does nothing but start and signal programs.

        A user that is None keeps root's rights, which only tests need.

        Raises:
            OSError: If init refuses.
        """
        self._ask({"do": "users", "users": users})

    def start(self, program: Program, descriptors: Sequence[int] = ()) -> "InitProgram":
        """Start a program; see `ProgramLauncher`."""
        try:
            return self._start(program, descriptors)
        except _Killed:
            # The program was killed before the change of directory, and has executed nothing.
            return self._start(program, descriptors)

    def _start(self, program: Program, descriptors: Sequence[int]) -> "InitProgram":
        with ExitStack() as on_failure:
            exits, exits_there = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
            on_failure.callback(os.close, exits)
            with _closed(exits_there), _pipe() as (report, report_there):
                passed = [report_there, exits_there, *descriptors]
                with _closed(report_there):
                    answer = self._ask({"do": "start", **_message(program)}, passed)
                number = int(answer["program"])
                on_failure.callback(self.signal, number, signal.SIGKILL, last=True)
                directory = _directory(program, _content(report, self._longest_start))
            on_failure.pop_all()
        return InitProgram(self, number, int(answer["pid"]), directory, exits)

    def signal(self, program: int, number: int, *, last: bool) -> None:
        """Have init signal the group of the program of this number, if it has not ended."""
        message = {"do": "signal", "program": program, "number": int(number), "last": last}
        # Without init, there is no program.
        with suppress(ChannelClosed):
            self._init.send(message)

    def send(self, family: Family, number: int) -> int:
        """Signal every member of a family; return their number."""
        with control(self._fork_control) as session:
            return session.send(family, number)

    def end(self, family: Family, grace: float) -> bool:
        """End every member of a family; return False if one survived. Blocks for ``grace``."""
        with control(self._fork_control) as session:
            return session.end(family, grace)

    def processes(self) -> InitProcesses:
        """Return the control of single processes of the desktop's users."""
        return InitProcesses(self._fork_control)

    def _fork_control(self, channel: Channel) -> None:
        self._ask({"do": "control"}, [channel.fileno()])

    def _ask(self, message: Message, descriptors: Sequence[int] = ()) -> Message:
        try:
            with self._asking:
                self._init.send(message, descriptors)
                answer, _ = self._init.receive()
        except ChannelClosed as error:
            raise OSError("init has ended") from error
        if "error" in answer:
            number = answer.get("errno")
            # With a number, OSError chooses its subclass.
            raise OSError(number, os.strerror(number)) if number else OSError(answer["error"])
        return answer


class _Killed(OSError):
    """The new process ended without a report."""


class InitProgram:
    """A program that init has started; see `RunningProgram`."""

    def __init__(
        self, launcher: InitLauncher, number: int, pid: int, directory: str, exits: int
    ) -> None:
        self._launcher = launcher
        self._number = number
        self.pid = pid
        self.directory = directory
        self._exits = exits
        self._code: int | None = None

    def fileno(self) -> int:
        """Return the pipe from which init's report of the exit is read."""
        return self._exits

    def poll(self) -> int | None:
        """Return the exit code, or None while the program runs."""
        if self._code is None and self._exits >= 0:
            try:
                # A pipe writes such a short message at once (pipe(7), PIPE_BUF).
                data = os.read(self._exits, 64)
            except BlockingIOError:
                return None
            # Nothing is written when init was killed, and everything inside with it.
            self._code = int(data) if data else -signal.SIGKILL
        return self._code

    def signal(self, number: int, *, last: bool = False) -> None:
        """Signal the process group; nothing happens if the program has ended."""
        if self._code is None:
            self._launcher.signal(self._number, number, last=last)

    def close(self) -> None:
        """Close the pipe."""
        if self._exits >= 0:
            os.close(self._exits)
            self._exits = -1


def _message(program: Program) -> Message:
    # A relative directory is one below the service's own.
    here = os.getcwd()  # noqa: PTH109 - joined as text
    directories = [os.path.join(here, one) for one in program.directories]  # noqa: PTH118
    return {**program._asdict(), "directories": directories}


def _directory(program: Program, data: bytes) -> str:
    """Return the working directory; raise what the start of the program was refused with."""
    report = parse_report(data)
    if report.step == FIND:
        raise ProgramNotFound(report.errno, os.strerror(report.errno), program.argv[0])
    if report.step:
        about = {DIRECTORY: _tried(program, report), EXECUTE: program.argv[0]}
        subject = about.get(report.step, report.step)
        raise OSError(report.errno, os.strerror(report.errno), subject)
    if report.directory is None:
        raise _Killed("the process ended before it became the program")
    return _tried(program, report)


def _tried(program: Program, report: StartReport) -> str:
    return program.directories[report.directory or 0] if program.directories else os.sep


def _content(pipe: int, seconds: float) -> bytes:
    """Read until the program runs or its start has failed.

    Raises:
        OSError: If neither happens in time.
    """
    data, deadline = b"", time.monotonic() + seconds
    with selectors.PollSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while selector.select(deadline - time.monotonic()):
            more = os.read(pipe, 4096)
            if not more:
                return data
            data += more
    raise OSError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT), "start")


@contextmanager
def _pipe() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe2(os.O_CLOEXEC)
    try:
        yield reading, writing
    finally:
        os.close(reading)


@contextmanager
def _closed(descriptor: int) -> Iterator[None]:
    try:
        yield
    finally:
        os.close(descriptor)
