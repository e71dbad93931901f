"""The programs that init has started: their starts, ends and signals.

A fork takes as long as all other steps of a start together, so a *spare* process is forked before
it is needed: it waits for the next program. Each program has a number that is never used again,
because a pid is. A number is known from the start until the process is reaped, so a signal to it
cannot reach another process.
"""

import os
import resource
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from deskhand.desktop.freeze.command_group import CommandGroup
from deskhand.desktop.isolation.desktop_user import DesktopUser
from deskhand.desktop.launch.channel import Channel, ChannelClosed, Message, adopted, pair
from deskhand.desktop.launch.mount_plan import NotExecutable
from deskhand.desktop.launch.namespaces import enter
from deskhand.desktop.launch.signals import ENDING
from deskhand.desktop.programs.program import Program

from .execution import Execution, close_all_except, enter_group, is_in_group, reset_signals
from .process_control import ProcessControlServer

NAMESPACES = ("net", "mnt")
"""Namespaces that the service may have entered after it was started."""

CAUGHT = (*ENDING, signal.SIGCHLD)


class _Started(NamedTuple):
    pid: int
    exits: int
    """Descriptor that gets the exit code; its end is init's end."""


class _Spare(NamedTuple):
    pid: int
    channel: Channel


class Groups(NamedTuple):
    """Control groups of programs; empty where there are none."""

    commands: str = ""
    """Stopped while a person or a secret types."""
    others: str = ""
    entered: bool = False
    """True if programs enter these groups themselves, and not groups below them."""


class Programs:
    """Starts programs with root's rights, on behalf of the service."""

    def __init__(self) -> None:
        self._users: dict[str, DesktopUser | None] = {}
        self._namespaces: tuple[int, ...] = ()
        self._not_executable: NotExecutable | None = None
        self._numbers = count(1)
        self._started: dict[int, _Started] = {}
        self._by_pid: dict[int, int] = {}
        self._last: set[int] = set()
        """Numbers of the programs that were asked to end."""
        self._open_files = resource.getrlimit(resource.RLIMIT_NOFILE)
        self._spare: _Spare | None = None
        self._stoppable = False
        """Whether the last program was a command; the next one is probably like it."""
        self.groups = Groups()

    def fix_users(
        self,
        users: Mapping[str, Any],
        service: int,
        not_executable: NotExecutable | None = None,
    ) -> None:
        """Fix the ids of the users, and the namespaces in which all programs are started.

        ``not_executable`` is for a browser with a user of its own.
        """
        self._users = {
            name: None if ids is None else DesktopUser.parse(ids) for name, ids in users.items()
        }
        self._namespaces = namespaces_of(service)
        if self._users.get("browser") != self._users.get("agent"):
            self._not_executable = not_executable
        # One descriptor is open for each program. They get the present limit themselves.
        _, most = self._open_files
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

    def start(self, request: Message, descriptors: Sequence[int]) -> Message:
        """Start the program of a request, which then reports its own start.

        ``descriptors`` are a pipe for that report, one for the exit code, and those to pass on.
        """
        if request["user"] not in self._users:
            raise KeyError(request["user"])
        report, exits, *passed = descriptors
        spare = self._given([report, *passed], request)
        number = next(self._numbers)
        self._started[number] = _Started(spare.pid, os.dup(exits))
        self._by_pid[spare.pid] = number
        return {"pid": spare.pid, "program": number}

    @property
    def unprepared(self) -> bool:
        """True if programs may be started and no process waits for the next one."""
        return bool(self._users) and self._spare is None

    def prepare(self) -> None:
        """Fork the process of the next program."""
        self._spare = self._forked(grouped=self._stoppable and self.groups.entered)

    def _given(self, descriptors: Sequence[int], request: Message) -> _Spare:
        """Hand the request to a process that waits for one."""
        spare, self._spare = self._spare or self._forked(), None
        self._stoppable = bool(request["stoppable"])
        try:
            spare.channel.send(request, descriptors)
        except ChannelClosed:
            # The process was killed while it waited, for example when memory was short.
            spare.channel.close()
            spare = self._forked()
            spare.channel.send(request, descriptors)
        spare.channel.close()
        return spare

    def _forked(self, *, grouped: bool = False) -> _Spare:
        own, there = pair()
        try:
            pid = fork(lambda: self._await_program(there, grouped=grouped))
            return _Spare(pid, own)
        except OSError:
            own.close()
            raise
        finally:
            there.close()

    def _await_program(self, channel: Channel, *, grouped: bool) -> None:
        # The channels and pipes of init must not stay open here.
        close_all_except({0, 1, 2, channel.fileno(), *self._namespaces})
        if grouped:
            # It takes about 10 ms, which the start of the program need not wait for.
            with suppress(OSError):
                enter_group(self.groups.commands)
        try:
            request, descriptors = channel.receive()
        except ChannelClosed:
            return
        program = Program.parse(request)
        report, *passed = descriptors
        Execution(
            *(program, self._users[program.user], passed, report),
            namespaces=self._namespaces,
            open_files=self._open_files,
            not_executable=self._not_executable,
            group=self._group_to_enter(program),
        ).run()

    def _group_to_enter(self, program: Program) -> str:
        """Return the group that the new process has to enter; empty for none."""
        if not self.groups.entered or program.limits.cgroup:
            return ""
        # While the group is stopped, processes that wait for a program are moved out of it.
        if program.stoppable == is_in_group(self.groups.commands):
            return ""
        return self.groups.commands if program.stoppable else self.groups.others

    def control(self, _: Message, descriptors: Sequence[int]) -> Message:
        """Fork a process that controls those of the users, by requests on the one descriptor."""
        (descriptor,) = descriptors
        users = {os.getuid() if user is None else user.uid for user in self._users.values()}
        groups = self.groups
        group = (
            CommandGroup(Path(groups.commands), Path(groups.others)) if groups.commands else None
        )

        def serve() -> None:
            close_all_except({0, 1, 2, descriptor, *self._namespaces})
            # The kernel lists the sockets of one network namespace.
            for namespace in self._namespaces:
                enter(namespace)
            ProcessControlServer(adopted(descriptor), users, group).serve()

        fork(serve)
        return {}

    def signal(self, request: Message, _: Sequence[int]) -> None:
        """Signal the process group of a program that has not been reaped; nothing is answered."""
        number = int(request["program"])
        started = self._started.get(number)
        if started is None:
            return
        if request["last"]:
            self._last.add(number)
        with suppress(OSError):
            try:
                os.killpg(started.pid, int(request["number"]))
            except ProcessLookupError:
                # The process has not called setsid(2) yet.
                os.kill(started.pid, int(request["number"]))

    def ending(self, pid: int) -> None:
        """Kill what is left of the group of a zombie that was asked to end."""
        if self._by_pid.get(pid) in self._last:
            with suppress(OSError):
                os.killpg(pid, signal.SIGKILL)

    def ended(self, pid: int, code: int) -> None:
        """Report the exit code of a process that was reaped, if it is a program."""
        number = self._by_pid.pop(pid, None)
        if number is None:
            return
        self._last.discard(number)
        exits = self._started.pop(number).exits
        # A closed pipe: nothing waits for this program.
        with suppress(OSError):
            os.write(exits, f"{code}\n".encode())
        os.close(exits)


def fork(run: Callable[[], None]) -> int:
    """Return the pid of a new process that calls ``run`` without init's signal handlers.

    Its signals are at their defaults, and those that init catches are blocked.
    """
    # Until its own handlers are gone, a signal to the new process would count as one to init.
    signal.pthread_sigmask(signal.SIG_BLOCK, CAUGHT)
    try:
        pid = os.fork()
        if pid == 0:
            try:
                reset_signals()
                run()
            finally:
                os._exit(0)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, CAUGHT)
    return pid


def namespaces_of(service: int) -> tuple[int, ...]:
    """Return descriptors of the namespaces that the service has entered."""
    return tuple(
        os.open(f"/proc/{service}/ns/{kind}", os.O_RDONLY | os.O_CLOEXEC)
        for kind in NAMESPACES
        if _differs(kind, service)
    )


def _differs(kind: str, service: int) -> bool:
    own, other = (Path(f"/proc/{pid}/ns/{kind}").stat() for pid in ("self", service))
    return own.st_ino != other.st_ino
