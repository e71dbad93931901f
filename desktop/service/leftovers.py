"""What desktops left behind that were killed together with their keeper.

Each desktop holds a lock for as long as it lives, in a folder that only whoever starts desktops
can reach. A lock that is free is a desktop that is dead.
"""

import fcntl
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

import psutil

from deskhand.desktop.display.x_server import clear_stale
from deskhand.desktop.isolation.account import NUMBERS, desktop_users
from deskhand.desktop.isolation.data_dir import Folder

LOCKS = "locks"
SWEEP_LOCK = "sweep.lock"
MARK = "DESKHAND_INSTANCE"

_FOLDER = re.compile("[0-9a-f]{8}")


@contextmanager
def alive(root: Path, instance: str, folder: Folder) -> Iterator[None]:
    """Hold the lock that tells others that this desktop lives, and where its files are."""
    locks = root / LOCKS
    locks.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _held(locks / instance) as lock:
        lock.write(str(folder.path.absolute()))
        lock.flush()
        yield


@contextmanager
def _held(path: Path) -> Iterator[TextIO]:
    while True:
        with path.open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            # A sweep may have taken the fresh file for a dead desktop's, and removed it.
            if _is_at(lock, path):
                yield lock
                return


def sweep(root: Path, numbers: Sequence[int] = NUMBERS) -> None:
    """End the processes and remove the files of dead desktops; their recordings are kept.

    A sweep waits for another one of the same root: while that one holds the lock of a dead
    desktop, the desktop looks alive. ``numbers`` are of the users that its desktops work as.
    """
    with _only_sweep(root):
        _sweep(root, numbers)


@contextmanager
def _only_sweep(root: Path) -> Iterator[None]:
    # Closed to others: with a descriptor of this file, any user could lock it and stop all starts.
    descriptor = os.open(root / SWEEP_LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _sweep(root: Path, numbers: Sequence[int]) -> None:
    # Seen before the locks are, for a desktop holds its lock before it makes its folder.
    folders = [path for path in sorted(root.glob("*")) if _FOLDER.fullmatch(path.name)]
    living, unsaid = set(), False
    for path in sorted((root / LOCKS).glob("*")):
        with suppress(OSError), path.open("r+") as lock:
            if _taken(lock):
                text = lock.read()
                # Without a word it holds its lock, and has still to say which folder is its own.
                unsaid = unsaid or not text
                living.add(Path(text).resolve())
                continue
            _end_processes(path.name)
            folder = Path(lock.read())
            # A folder that somebody chose elsewhere is theirs to clear.
            if folder.parent == root:
                _clear(Folder(folder))
            path.unlink()
    for path in () if unsaid else folders:
        if path.resolve() not in living:
            with suppress(OSError):
                _clear(Folder(path))
    # Also what an earlier sweep found too young to be told from a server that starts.
    clear_stale(desktop_users(numbers))


def _is_at(lock: TextIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(lock.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _taken(lock: TextIO) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def _end_processes(instance: str) -> None:
    left = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if process.environ().get(MARK) == instance and process.pid != os.getpid():
                process.kill()
                left.append(process)
    psutil.wait_procs(left, timeout=2.0)


def _clear(folder: Folder) -> None:
    with suppress(FileNotFoundError):
        folder.clear()
