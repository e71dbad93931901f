"""The processes of users in /proc, and signals to them (proc(5), pidfd_send_signal(2))."""

import os
import signal
from collections.abc import Collection, Iterator
from contextlib import suppress

from .command_group import CommandGroup
from .selection import ProcessFacts

PROC = "/proc"
_ROOT = 0
# Fields of /proc/PID/stat after the name, which is in parentheses and may contain blanks.
_STATE, _PARENT, _STARTED = 0, 1, 19
_ENDED, _STOPPED, _ASLEEP = b"ZX", b"Tt", b"D"


class UserProcesses:
    """Reads and signals the processes of users."""

    def __init__(self, uids: Collection[int], group: CommandGroup | None = None) -> None:
        """``group`` is that of the commands; None if they have none."""
        self._uids = frozenset(uids)
        self._group = group

    def freeze(self) -> None:
        """Stop the group of the commands, if there is one."""
        if self._group is not None:
            self._group.stop()

    def thaw(self) -> None:
        """Let the group of the commands continue."""
        if self._group is not None:
            self._group.resume()

    def table(self) -> list[ProcessFacts]:
        """Return the users' processes that live, and those of root, which may be their parents."""
        frozen = frozenset[int]()
        if self._group is not None and self._group.stopped:
            self._group.release_starts()
            frozen = self._group.members()
        found = [one for pid in _pids() if (one := self._read(pid)) is not None]
        return [one._replace(frozen=True) if one.pid in frozen else one for one in found]

    def stop(self, process: ProcessFacts) -> bool:
        """Send SIGSTOP; return False if the system does not permit it."""
        return self._signal(process, signal.SIGSTOP)

    def resume(self, process: ProcessFacts) -> None:
        """Send SIGCONT."""
        self._signal(process, signal.SIGCONT)

    def _read(self, pid: int) -> ProcessFacts | None:
        folder = f"{PROC}/{pid}"
        with suppress(OSError, ValueError, IndexError):
            # The owner of the folder is root for a process that is not dumpable; every other
            # user's processes are skipped here without reading a file.
            if os.stat(folder).st_uid not in {*self._uids, _ROOT}:  # noqa: PTH116 -- of each process
                return None
            name, fields = _stat(pid)
            if fields[_STATE] in _ENDED:
                return None
            uid = _real_user(folder)
            own = uid in self._uids
            return ProcessFacts(
                pid=pid,
                parent=int(fields[_PARENT]),
                uid=uid,
                name=name,
                started=int(fields[_STARTED]),
                stopped=fields[_STATE] in _STOPPED,
                asleep=fields[_STATE] in _ASLEEP,
                program=self._program(folder) if own else None,
                arguments=_arguments(folder) if own else (),
            )
        return None

    def _program(self, folder: str) -> str | None:
        """Return the path of the executable; None for one that is not what its path shows.

        In a mount namespace of its own a process can run another file at that path, and what the
        users of the processes own they can replace.
        """
        try:
            path = os.readlink(f"{folder}/exe")  # noqa: PTH115 -- of each process
            shown, running = os.stat(path), os.stat(f"{folder}/exe")  # noqa: PTH116 -- the same
        except OSError:
            return None
        is_own = running.st_uid in self._uids - {_ROOT}
        return path if os.path.samestat(shown, running) and not is_own else None

    def _signal(self, process: ProcessFacts, number: signal.Signals) -> bool:
        try:
            descriptor = os.pidfd_open(process.pid)
        except OSError:
            return True
        try:
            # Read after the pidfd was opened: a reused pid has another start time.
            _, fields = _stat(process.pid)
            same = int(fields[_STARTED]) == process.started
            if same and _real_user(f"{PROC}/{process.pid}") in self._uids:
                signal.pidfd_send_signal(descriptor, number)
        except PermissionError:
            return False
        except (OSError, ValueError, IndexError):
            # The process has ended.
            pass
        finally:
            os.close(descriptor)
        return True


def _pids() -> Iterator[int]:
    own = os.getpid()
    for name in os.listdir(PROC):  # noqa: PTH208 -- saves a Path object for each process
        if name.isdigit() and int(name) != own:
            yield int(name)


def _stat(pid: int) -> tuple[str, list[bytes]]:
    data = _content(f"{PROC}/{pid}/stat")
    begin, end = data.index(b"("), data.rindex(b")")
    return data[begin + 1 : end].decode("utf-8", "replace"), data[end + 2 :].split()


def _real_user(folder: str) -> int:
    return int(_content(f"{folder}/status").partition(b"\nUid:\t")[2].split()[0])


def _arguments(folder: str) -> tuple[str, ...]:
    with suppress(OSError):
        return tuple(_content(f"{folder}/cmdline").decode("utf-8", "replace").split("\0"))
    return ()


def _content(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, 16_384)
    finally:
        os.close(descriptor)
