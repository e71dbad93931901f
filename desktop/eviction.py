"""End whatever runs as a user who is one desktop's alone.

A command can wipe its environment and leave its session: then neither a mark nor a parent tells
whose it was, once the keeper is gone as well. What is left is the user that it runs as.
"""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

PATIENCE = 5.0
"""Seconds; a process that waits for a dead disk cannot be killed."""


def evict(uid: int) -> None:
    """Kill every other process of a user, and those that they start meanwhile."""
    deadline = time.monotonic() + PATIENCE
    while (found := tenants(uid)) and time.monotonic() < deadline:
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def tenants(uid: int) -> list[int]:
    """Return the processes of a user but this one, without those that are over."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            # The folder's owner is not the answer: it is root where memory must not be read.
            facts = dict(
                line.partition(":\t")[::2] for line in (folder / "status").read_text().splitlines()
            )
            over = facts["State"][:1] in "ZX"
            if int(facts["Uid"].split()[0]) == uid and not over and int(folder.name) != os.getpid():
                found.append(int(folder.name))
    return found
