"""The steps between fork(2) and execve(2) of a program that init starts.

A failure is reported through a pipe that execve closes. All that needs root's rights is done before
the change of user; directories and programs are opened after it, with the rights of that user.
"""

import ctypes
import errno
import fcntl
import os
import resource
import signal
import termios
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from typing import NoReturn

from deskhand.desktop.isolation.desktop_user import DesktopUser
from deskhand.desktop.launch.mount_plan import NotExecutable
from deskhand.desktop.launch.namespaces import enter, forbid_execution
from deskhand.desktop.programs.program import Program
from deskhand.desktop.programs.start_report import DIRECTORY, EXECUTE, FIND, failed, tried

MASKS = {"agent": 0o027, "service": 0o077, "browser": 0o007}
"""File mode creation masks (umask(2)): the browser, in the group of the agent, reads what the
agent's programs create, and the agent changes what the browser creates."""

PR_SET_DUMPABLE = 4
PR_SET_NO_NEW_PRIVS = 38
"""Of <linux/prctl.h>, prctl(2)."""

_ABSENT = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}
_NOT_EXECUTABLE = {*_ABSENT, errno.EACCES}
_KERNEL = ctypes.CDLL(None)


class Execution:
    """One start, in the new process."""

    def __init__(
        self,
        program: Program,
        user: DesktopUser | None,
        descriptors: Sequence[int],
        report: int,
        namespaces: Iterable[int] = (),
        open_files: tuple[int, int] | None = None,
        not_executable: NotExecutable | None = None,
        group: str = "",
    ) -> None:
        """Prepare; ``user`` is None to stay who it is.

        ``namespaces`` are descriptors of those to enter, ``open_files`` is the limit to return to.
        ``not_executable`` are the places that hold no programs for the browser, ``group`` is the
        control group to enter if the limits name none.
        """
        self._program = program
        self._user = user
        self._passed = descriptors
        self._report = report
        self._namespaces = namespaces
        self._open_files = open_files
        self._not_executable = not_executable
        self._group = group
        self._memory_bounded = False

    def run(self) -> NoReturn:
        """Become the program. All signals are blocked when this is called."""
        step = ""
        steps: dict[str, Callable[[], None]] = {
            "session": os.setsid,
            "limits": self._limit_as_root,
            "namespaces": self._enter_namespaces,
            "descriptors": self._place_descriptors,
            "terminal": self._take_terminal,
            "user": self._become_user,
            DIRECTORY: self._enter_directory,
            "bounds": self._bound_resources,
            FIND: self._execute,
        }
        try:
            for name, act in steps.items():
                step = name
                act()
        except OSError as error:
            found = step == FIND and error.errno not in _NOT_EXECUTABLE
            self._fail(EXECUTE if found else step, error.errno or errno.EINVAL)
        except ValueError:
            # A word or a variable contains NUL.
            self._fail(EXECUTE, errno.EINVAL)
        finally:
            os._exit(127)

    def _fail(self, step: str, number: int) -> None:
        os.write(self._report, failed(step, number))

    def _limit_as_root(self) -> None:
        limits = self._program.limits
        if limits.cgroup:
            with suppress(OSError):
                enter_group(limits.cgroup)
                self._memory_bounded = limits.cgroup_bounds_memory
        elif self._group:
            with suppress(OSError):
                enter_group(self._group)
        if limits.oom_score_adj is not None:
            with suppress(OSError):
                _write("/proc/self/oom_score_adj", str(limits.oom_score_adj))
        if limits.nice:
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, 0, limits.nice)

    def _enter_namespaces(self) -> None:
        for namespace in self._namespaces:
            enter(namespace)
        if self._program.user == "browser" and self._not_executable is not None:
            # A client of the display can name a module that GTK loads into other programs
            # (XSETTINGS, Gtk/Modules), and the agent could write that module.
            forbid_execution(self._not_executable)

    def _place_descriptors(self) -> None:
        numbers = self._program.descriptors
        above = max((2, *numbers)) + 1
        # Out of the way first: a source may have the number of another one's target.
        sources = [fcntl.fcntl(one, fcntl.F_DUPFD_CLOEXEC, above) for one in self._passed]
        self._report = fcntl.fcntl(self._report, fcntl.F_DUPFD_CLOEXEC, above)
        null = fcntl.fcntl(os.open(os.devnull, os.O_RDWR), fcntl.F_DUPFD_CLOEXEC, above)
        for number in range(3):
            os.dup2(null, number)
        for source, number in zip(sources, numbers, strict=True):
            os.dup2(source, number)
        close_all_except({0, 1, 2, *numbers, self._report})

    def _take_terminal(self) -> None:
        terminal = self._program.terminal
        if terminal is None:
            return
        if self._user is not None:
            # Programs open their terminal by its path too. The group stays that of terminals.
            os.fchown(terminal, self._user.uid, -1)
        fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)

    def _become_user(self) -> None:
        if self._user is not None:
            # The order is fixed: without root's rights the groups cannot be changed any more.
            os.setgroups(self._user.groups)
            os.setgid(self._user.gid)
            os.setuid(self._user.uid)
        # Until execve(2) this memory is a copy of init's, which that user may not read.
        _KERNEL.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)

    def _enter_directory(self) -> None:
        os.umask(MASKS[self._program.user])
        directories = self._program.directories or ("/",)
        for index, directory in enumerate(directories):
            os.write(self._report, tried(index))
            try:
                os.chdir(directory)
            except OSError as error:
                if error.errno in self._passed_over and index + 1 < len(directories):
                    continue
                raise
            return

    @property
    def _passed_over(self) -> Collection[int]:
        # The agent may close its working directory to the browser's user.
        return _NOT_EXECUTABLE if self._program.user == "browser" else _ABSENT

    def _bound_resources(self) -> None:
        limits = self._program.limits
        if self._open_files is not None:
            resource.setrlimit(resource.RLIMIT_NOFILE, self._open_files)
        _bound(resource.RLIMIT_CPU, limits.cpu_seconds)
        _bound(resource.RLIMIT_NOFILE, limits.open_files)
        # After the change of user: setuid(2) marks a process of a user who has more processes than
        # this limit, and execve(2) would refuse that.
        _bound(resource.RLIMIT_NPROC, limits.processes)
        # Last, because this interpreter may use more than a small address space already.
        _bound(resource.RLIMIT_AS, None if self._memory_bounded else limits.memory_bytes)

    def _execute(self) -> None:
        name, environment = self._program.argv[0], dict(self._program.environment)
        path = environment.get("PATH", os.defpath)
        folders = [""] if "/" in name else [f"{one}/" for one in path.split(":") if one]
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        # Last, because it marks the processes that are programs (`freeze.command_group`).
        _KERNEL.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        refused = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        for folder in folders:
            try:
                os.execve(f"{folder}{name}", self._program.argv, environment)  # noqa: S606 - in no shell
            except OSError as error:
                if error.errno not in _NOT_EXECUTABLE:
                    raise
        raise refused


def _bound(kind: int, bound: int | None) -> None:
    if bound is not None:
        # Only a privileged process may raise a hard limit (setrlimit(2)); the lower one stays.
        with suppress(OSError, ValueError):
            resource.setrlimit(kind, (bound, bound))


def _write(path: str, value: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, value.encode())
    finally:
        os.close(descriptor)


def enter_group(group: str) -> None:
    """Move this process into a control group; raise ``OSError`` if the kernel refuses."""
    _write(f"{group}/cgroup.procs", "0")


def is_in_group(group: str) -> bool:
    """Return whether this process is in a control group of version 2."""
    with open("/proc/self/cgroup") as file:  # noqa: PTH123 - before a start
        # Its path begins at the root of the hierarchy, not at the mount point (cgroups(7)).
        paths = [line[3:].rstrip() for line in file if line.startswith("0::")]
    return any(path != "/" and group.endswith(path) for path in paths)


def reset_signals() -> None:
    """Return to the default effects of all signals.

    Init catches some, Python ignores some, and a shell ignores SIGINT and SIGQUIT for a background
    job.
    """
    # The pipe is init's: a signal to this process would count as one to init.
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)


def close_all_except(kept: Collection[int]) -> None:
    """Close all other descriptors of this process."""
    first = 0
    for number in sorted(kept):
        # An empty range that ends at 0 would close all.
        if first < number:
            os.closerange(first, number)
        first = number + 1
    os.closerange(first, os.sysconf("SC_OPEN_MAX"))
