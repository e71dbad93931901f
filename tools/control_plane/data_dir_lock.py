"""Lock of a data directory: at most one control plane uses it at a time."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class AlreadyRunning(Exception):
    """Another control plane uses the data directory."""

    def __init__(self, data_dir: Path, holder: str) -> None:
        super().__init__(data_dir, holder)
        self.data_dir = data_dir
        self.holder = holder

    def __str__(self) -> str:
        return f"{self.data_dir} is in use by {self.holder or 'another process'}"


@contextmanager
def held(data_dir: Path) -> Iterator[None]:
    """Hold the lock of a data directory until the block, or the process, ends.

    Raises:
        AlreadyRunning: If another process holds it; the error names that process.
    """
    # flock(2) locks end with the process even after SIGKILL; a file with a process id would not.
    # "a+" does not truncate: a process that fails to lock the file still reads the holder's name in
    # it.
    with (data_dir / "lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise AlreadyRunning(data_dir, lock.read().strip()) from None
        lock.truncate(0)
        lock.write(f"deskhand up, process {os.getpid()}\n")
        lock.flush()
        yield
