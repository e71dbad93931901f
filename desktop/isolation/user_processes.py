"""Kill all processes of users that one desktop has at a time.

A command can clear its environment and leave its session. Once the keeper is gone as well, neither
a marker nor a parent connects it with its desktop; only its user does.
"""

import os
import re
import signal
import time
from contextlib import suppress

PATIENCE = 5.0
"""Seconds; a process in uninterruptible sleep (state D) cannot be killed."""

_FACTS = re.compile(rb"\nState:\t(?P<state>.).*\nUid:\t(?P<uid>[0-9]+)", re.DOTALL)
"""In /proc/PID/status, proc(5); a line break in the process name is escaped there."""


def kill_user_processes(*uids: int) -> None:
    """Kill every other process of the users, including those that start meanwhile."""
    deadline = time.monotonic() + PATIENCE
    while (found := user_pids(*uids)) and time.monotonic() < deadline:
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def user_pids(*uids: int) -> list[int]:
    """Return the processes of the users, without this one, zombies and dead ones."""
    found = []
    for name in os.listdir("/proc"):  # noqa: PTH208 -- Path objects would delay every start
        if name.isdigit() and int(name) != os.getpid():
            with suppress(OSError):
                # The owner of /proc/PID is root for a process that is not dumpable, so it is not
                # the process's user.
                descriptor = os.open(f"/proc/{name}/status", os.O_RDONLY | os.O_CLOEXEC)
                try:
                    facts = _FACTS.search(os.read(descriptor, 4096))
                finally:
                    os.close(descriptor)
                if facts and int(facts["uid"]) in uids and facts["state"] not in b"ZX":
                    found.append(int(name))
    return found
