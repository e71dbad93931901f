"""The control group of an agent's commands, stopped as a whole (cgroup-v2.rst, "cgroup.freeze").

No signal continues a process of a group that is stopped, except SIGKILL, which ends it. Such a
process does not return to user mode, so nothing has to be repeated for those that it starts.

A command enters the group before it becomes a program. If the group is stopped in that moment, its
start would not end. So `release_starts` moves such processes out; they are stopped like others that
are in no group, once they are programs. They are the only ones without PR_SET_NO_NEW_PRIVS, which
init sets right before execve(2), and which no program can unset.
"""

import os
import select
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")
STOP_SECONDS = 1.0
"""Time in which the kernel stops processes that do not sleep uninterruptibly."""


class CommandGroup:
    """The group ``path``, with a group for each command below it or with their processes."""

    def __init__(self, path: Path, beside: Path, proc: Path = PROC) -> None:
        """``beside`` is a group that is never stopped."""
        self._path = path
        self._beside = beside
        self._proc = proc

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Stop the processes of the group, and wait until the kernel reports that they are."""
        with suppress(OSError):
            _write(self._path / "cgroup.freeze", "1")
            self.release_starts()
            self._wait_stopped(seconds)

    def resume(self) -> None:
        """Let the processes continue."""
        with suppress(OSError):
            _write(self._path / "cgroup.freeze", "0")

    @property
    def stopped(self) -> bool:
        """True between `stop` and `resume`."""
        try:
            return (self._path / "cgroup.freeze").read_text().strip() == "1"
        except OSError:
            return False

    def members(self) -> frozenset[int]:
        """Return the processes, by their pids in the PID namespace of this process."""
        return frozenset(self._pids())

    def release_starts(self) -> None:
        """Move out the processes that are no program yet."""
        for pid in self._pids():
            if self._is_starting(pid):
                # It may have ended.
                with suppress(OSError):
                    _write(self._beside / "cgroup.procs", str(pid))

    def _pids(self) -> Iterator[int]:
        for folder, _, _ in os.walk(self._path):
            with suppress(OSError):
                for word in (Path(folder) / "cgroup.procs").read_text().split():
                    # A process of another PID namespace has the pid 0 here.
                    if word != "0":
                        yield int(word)

    def _is_starting(self, pid: int) -> bool:
        with suppress(OSError):
            return "\nNoNewPrivs:\t0\n" in (self._proc / str(pid) / "status").read_text()
        return False

    def _wait_stopped(self, seconds: float) -> None:
        with (self._path / "cgroup.events").open() as events:
            poll = select.poll()
            poll.register(events, select.POLLPRI)
            # A change is reported once for each reading of the file.
            while "frozen 0" in events.read() and poll.poll(seconds * 1000):
                events.seek(0)


def _write(file: Path, value: str) -> None:
    # O_CREAT cannot create a file in cgroupfs, so a missing interface file is an error there.
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, value.encode())
    finally:
        os.close(descriptor)
