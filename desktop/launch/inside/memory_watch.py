"""Memory of a desktop's processes, and the end of the largest one where it is too much.

The sum of resident sizes is an upper bound of the sum of proportional ones (PSS) and costs a tenth
of it, so PSS is read only where the bound exceeds the limit.
"""

import os
import signal
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from deskhand.desktop.launch.limits import ProcessMemory, exceeded, victim

PROC = Path("/proc")
INTERVAL = 0.5
"""Seconds between two sums."""

_PAGE = os.sysconf("SC_PAGE_SIZE")
_X_SERVERS = ("/usr/bin/Xvnc", "/usr/bin/Xtigervnc", "/usr/bin/Xvfb")


class MemoryWatch:
    """Keeps the memory of all listed processes within a limit."""

    def __init__(
        self,
        memory_bytes: int,
        listed: Callable[[], Iterable[int]],
        spared: int,
        kill: Callable[[int, int], None] = os.kill,
        proc: Path = PROC,
    ) -> None:
        """``spared`` is the service, which is killed last, as X servers are."""
        self._limit = memory_bytes
        self._listed = listed
        self._spared = spared
        self._kill = kill
        self._proc = proc

    def check(self) -> None:
        """Kill the largest processes until the others keep the limit."""
        pids = tuple(self._listed())
        if not exceeded([ProcessMemory(pid, self._resident(pid)) for pid in pids], self._limit):
            return
        usages = [ProcessMemory(pid, self._proportional(pid), self._is_spared(pid)) for pid in pids]
        while (chosen := victim(usages, self._limit)) is not None:
            with suppress(ProcessLookupError):
                self._kill(chosen, signal.SIGKILL)
            usages = [one for one in usages if one.pid != chosen]

    def _resident(self, pid: int) -> int:
        with suppress(OSError):
            return int((self._proc / str(pid) / "statm").read_text().split()[1]) * _PAGE
        return 0

    def _proportional(self, pid: int) -> int:
        with suppress(OSError, ValueError):
            text = (self._proc / str(pid) / "smaps_rollup").read_text()
            return int(text.partition("\nPss:")[2].split()[0]) * 1024
        return 0

    def _is_spared(self, pid: int) -> bool:
        if pid == self._spared:
            return True
        with suppress(OSError):
            return str((self._proc / str(pid) / "exe").readlink()) in _X_SERVERS
        return False


def namespace_pids(proc: Path = PROC) -> Sequence[int]:
    """Return all processes of this PID namespace but the first."""
    names = os.listdir(proc)  # noqa: PTH208 -- Path objects would cost more than the reading
    return [int(name) for name in names if name.isdigit() and name != "1"]


def with_descendants(pid: int, proc: Path = PROC) -> Sequence[int]:
    """Return a process and its living descendants."""
    found = [pid]
    # The list grows while it is walked.
    for one in found:
        with suppress(OSError):
            children = (proc / str(one) / "task" / str(one) / "children").read_text()
            found += map(int, children.split())
    return found
