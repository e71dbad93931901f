"""Find and end everything that a process started, also what left its process group.

A child that calls ``setsid`` is in no group of ours, and one whose parent died has another parent:
what it still carries is the environment it was born with. So processes are looked up by their
group and by a marker variable, and signalled through a pidfd checked after it was opened: a
number that was given to somebody else meanwhile is never hit.
"""

import os
import select
import signal
from collections.abc import Callable, Collection
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True)
class Family:
    """Whom to look for: members of these groups, and carriers of any of these variables."""

    groups: frozenset[int] = frozenset()
    markers: tuple[bytes, ...] = ()
    """Beginnings of environment entries, as ``NAME=value``."""
    spared: frozenset[int] = frozenset()
    """Groups whose members do not count, whatever they carry."""


def send(family: Family, number: signal.Signals) -> int:
    """Signal every live member and return how many there were."""
    with ExitStack() as files:
        members = _members(family, files)
        for pidfd in members:
            with suppress(ProcessLookupError, PermissionError):
                signal.pidfd_send_signal(pidfd, number)
        return len(members)


def end(family: Family, grace: float, clock: Callable[[], float]) -> bool:
    """Ask every member to end, kill what is left after ``grace`` seconds. Blocking.

    Returns False if some of them outlived even that.
    """
    for number, patience in ((signal.SIGTERM, grace), (signal.SIGKILL, 5.0)):
        deadline = clock() + patience
        # Again and again: a member may have started another one while it was asked.
        while send(family, number):
            if not _wait_gone(family, deadline, clock):
                break
        else:
            return True
    return not alive(family)


def alive(family: Family) -> bool:
    """Whether any member lives."""
    with ExitStack() as files:
        return bool(_members(family, files))


def wait_gone(family: Family, timeout: float, clock: Callable[[], float]) -> bool:
    """Wait until no member is left. Blocking; False if ``timeout`` seconds were not enough."""
    return _wait_gone(family, clock() + timeout, clock)


def _wait_gone(family: Family, deadline: float, clock: Callable[[], float]) -> bool:
    while True:
        with ExitStack() as files:
            members = _members(family, files)
            if not members:
                return True
            poll = select.poll()
            for pidfd in members:
                poll.register(pidfd, select.POLLIN)
            for _ in members:
                left = deadline - clock()
                if left <= 0:
                    return False
                for pidfd, _event in poll.poll(left * 1000):
                    poll.unregister(pidfd)


def _members(family: Family, files: ExitStack) -> Collection[int]:
    found = []
    own = os.getpid()
    for name in os.listdir(PROC):  # noqa: PTH208 -- a thousand Path objects for nothing
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
        # The name in parentheses may itself hold blanks and parentheses.
        state, _parent, group = stat[stat.rindex(b")") + 2 :].split(b" ", 3)[:3]
        if state in (b"Z", b"X"):
            return False
        if int(group) in family.spared:
            return False
        if int(group) in family.groups:
            return True
        if not family.markers:
            return False
        environ = b"\0" + (PROC / pid / "environ").read_bytes()
    except OSError:
        return False
    return any(b"\0" + marker in environ for marker in family.markers)
