"""End whatever runs as a user who is one desktop's alone.

A command can wipe its environment and leave its session: then neither a mark nor a parent tells
whose it was, once the keeper is gone as well. What is left is the user that it runs as.
"""

import os
import re
import signal
import time
from contextlib import suppress

PATIENCE = 5.0
"""Seconds; a process that waits for a dead disk cannot be killed."""

_FACTS = re.compile(rb"\nState:\t(?P<state>.).*\nUid:\t(?P<uid>[0-9]+)", re.DOTALL)
"""Of /proc/PID/status, proc(5); a name cannot hold a line break there."""


def kill_user_processes(uid: int) -> None:
    """Kill every other process of a user, and those that they start meanwhile."""
    deadline = time.monotonic() + PATIENCE
    while (found := user_pids(uid)) and time.monotonic() < deadline:
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def user_pids(uid: int) -> list[int]:
    """Return the processes of a user but this one, without those that are over."""
    found = []
    for name in os.listdir("/proc"):  # noqa: PTH208 -- every start waits for this
        if name.isdigit() and int(name) != os.getpid():
            with suppress(OSError):
                # The folder's owner is not the answer: it is root where memory must not be read.
                descriptor = os.open(f"/proc/{name}/status", os.O_RDONLY | os.O_CLOEXEC)
                try:
                    facts = _FACTS.search(os.read(descriptor, 4096))
                finally:
                    os.close(descriptor)
                if facts and int(facts["uid"]) == uid and facts["state"] not in b"ZX":
                    found.append(int(name))
    return found
