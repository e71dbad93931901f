"""One control plane a data directory."""

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
    """Hold the data directory; the lock ends with the process, however it ends.

    Raises:
        AlreadyRunning: Naming who holds it.
    """
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
