"""Finds and ends all descendants of a process, including those that left its process group.

A descendant that called setsid(2) is in a group of its own, and an orphan has been reparented, but
both keep the environment that they were started with. Processes are therefore found by their group
and by a marker variable. They are signalled through a pidfd (pidfd_open(2)) that is checked again
after it was opened, so that a reused pid is never signalled.
"""

import os
import select
import signal
import time
from collections.abc import Callable, Collection
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")
# Fields of /proc/PID/stat, counted from the one after the name (proc(5)).
_STARTED, _MEMORY, _ENVIRONMENT_END = 19, 20, 48
EXEC_CHECKS, EXEC_PAUSE = 100, 0.002
"""Checks of a process in execve(2), and the seconds between them; the kernel needs microseconds."""


class Family(NamedTuple):
    """Processes to find: members of these groups, and those with one of these variables."""

    groups: frozenset[int] = frozenset()
    markers: tuple[bytes, ...] = ()
    """Prefixes of environment entries, such as ``NAME=value``."""
    spared: frozenset[int] = frozenset()
    """Groups whose members are excluded in any case."""
    users: frozenset[int] = frozenset()
    """Users whose processes are found; empty for all whose environment may be read."""


def start_ticks(pid: int) -> int | None:
    """Return the start time of a process in clock ticks since boot; None if there is none."""
    try:
        stat = (PROC / str(pid) / "stat").read_bytes()
    except OSError:
        return None
    return int(stat[stat.rindex(b")") + 2 :].split()[_STARTED])


def send(family: Family, number: signal.Signals) -> int:
    """Signal every live member and return their number."""
    with ExitStack() as files:
        members = _members(family, files)
        for pidfd in members:
            with suppress(ProcessLookupError, PermissionError):
                signal.pidfd_send_signal(pidfd, number)
        return len(members)


def end(family: Family, grace: float, clock: Callable[[], float]) -> bool:
    """Send SIGTERM to every member, and SIGKILL to the rest after ``grace`` seconds. Blocking.

    Returns False if a member survived, such as one in uninterruptible sleep.
    """
    for number, timeout in ((signal.SIGTERM, grace), (signal.SIGKILL, 5.0)):
        deadline = clock() + timeout
        # Repeated, because a member may have forked after the list was read.
        while send(family, number):
            if not wait_gone(family, deadline, clock):
                break
        else:
            return True
    return not alive(family)


def alive(family: Family) -> bool:
    """Return True if any member lives."""
    with ExitStack() as files:
        return bool(_members(family, files))


def wait_gone(family: Family, deadline: float, clock: Callable[[], float]) -> bool:
    """Wait until no member is left; return False if one lives at ``deadline``. Blocking."""
    while True:
        with ExitStack() as files:
            members = _members(family, files)
            if not members:
                return True
            poll = select.poll()
            for pidfd in members:
                poll.register(pidfd, select.POLLIN)
            living = len(members)
            while living:
                left = deadline - clock()
                if left <= 0:
                    return False
                # One poll returns the ends of all processes that ended meanwhile.
                for pidfd, _event in poll.poll(left * 1000):
                    poll.unregister(pidfd)
                    living -= 1


def _members(family: Family, files: ExitStack) -> Collection[int]:
    found = []
    own = os.getpid()
    for name in os.listdir(PROC):  # noqa: PTH208 -- saves a Path object for each process
        if not name.isdigit() or int(name) == own:
            continue
        if _belongs(name, family):
            with suppress(ProcessLookupError):
                pidfd = os.pidfd_open(int(name))
                files.callback(os.close, pidfd)
                if _belongs(name, family):
                    found.append(pidfd)
    return found


def _belongs(pid: str, family: Family) -> bool:
    try:
        stat = (PROC / pid / "stat").read_bytes()
        # The comm field in parentheses may itself contain blanks and parentheses (proc(5)).
        state, _parent, group = stat[stat.rindex(b")") + 2 :].split(b" ", 3)[:3]
        # A zombie ignores signals and only waits for its parent, so waiting for it would not end.
        if state in (b"Z", b"X"):
            return False
        if int(group) in family.spared:
            return False
        if family.users and real_user(pid) not in family.users:
            return False
        if int(group) in family.groups:
            return True
        if not family.markers:
            return False
        # Entries are separated by NUL; the first gets one too, so that a marker matches only where
        # an entry begins.
        environ = b"\0" + _environ(pid)
    except (OSError, IndexError):
        # The process has ended, or belongs to another user.
        return False
    return any(b"\0" + marker in environ for marker in family.markers)


def _environ(pid: str) -> bytes:
    """Return the environment of a process, also of one that is in execve(2).

    The new program has none for a moment, and a process that is not found would outlive its family.
    """
    path = PROC / pid / "environ"
    for _ in range(EXEC_CHECKS):
        found = path.read_bytes()
        if found:
            return found
        if not _is_in_exec(pid):
            # The process may have got its environment since it was read.
            break
        time.sleep(EXEC_PAUSE)
    return path.read_bytes()


def _is_in_exec(pid: str) -> bool:
    stat = (PROC / pid / "stat").read_bytes()
    fields = stat[stat.rindex(b")") + 2 :].split()
    # A kernel thread has no memory and no environment.
    return fields[_MEMORY] != b"0" and fields[_ENVIRONMENT_END] == b"0"


def real_user(pid: int | str) -> int:
    """Return the real user id of a process (proc(5)).

    Raises:
        OSError: If it has ended.
    """
    fields = (PROC / str(pid) / "status").read_bytes().partition(b"\nUid:\t")[2].split()
    return int(fields[0])
