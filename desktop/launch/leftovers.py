"""Processes and files of desktops that were killed together with their keeper.

Each desktop holds a lock (flock(2)) from before it creates its directory until it has removed it.
The locks lie in a directory of the user who starts desktops, out of reach of the desktops' users.
A lock that can be acquired belongs to a dead desktop. Its file contains the path of the desktop's
directory; an empty file belongs to a desktop that is starting, and while there is one, no
directory is removed that no lock names.
"""

import fcntl
import os
import re
import select
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TextIO

from deskhand.desktop.isolation.account import NUMBERS
from deskhand.desktop.isolation.claims import desktop_users
from deskhand.desktop.isolation.data_dir import LOCKS, DesktopDirectory
from deskhand.desktop.uid_base import DEFAULT_UID_BASE
from deskhand.desktop.x11.server_files import clear_stale

from .desktop_group import CpuShare, DesktopGroup

CLEANING_LOCK = "sweep.lock"
MARK = "DESKHAND_INSTANCE"
"""Environment variable that all processes of a desktop inherit."""

END_MS = 2000
"""Patience for the end of killed processes, in milliseconds."""

# `process` names a directory by the first 8 of the 16 hexadecimal digits of the instance.
_FOLDER = re.compile("[0-9a-f]{8}")


@contextmanager
def alive(root: Path, instance: str, folder: DesktopDirectory) -> Iterator[None]:
    """Hold the lock of a living desktop, with the path of its directory, while the body runs."""
    with lock_instance(root, instance, folder):
        yield


def lock_instance(root: Path, instance: str, folder: DesktopDirectory) -> TextIO:
    """Lock a living desktop with the path of its directory; closing the file releases it."""
    locks = root / LOCKS
    locks.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = _locked(locks / instance)
    lock.write(str(folder.path.absolute()))
    # Until the path is written the file is empty, and other services treat the desktop as
    # starting.
    lock.flush()
    return lock


def _locked(path: Path) -> TextIO:
    while True:
        lock = path.open("w")
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Between open and flock another process may have removed the file as a dead desktop's.
        if _is_at(lock, path):
            return lock
        lock.close()


def clean_leftovers(root: Path, numbers: range = NUMBERS, uid_base: int = DEFAULT_UID_BASE) -> None:
    """Kill the processes and remove the files of dead desktops; their recordings are kept.

    A call waits for another one of the same root: while that one holds the lock of a dead desktop,
    the desktop looks alive. ``numbers`` are those of the users that desktops of the root run as.
    """
    with _exclusive(root):
        _clean(root, numbers, uid_base)


@contextmanager
def _exclusive(root: Path) -> Iterator[None]:
    # Mode 0600: any user with a descriptor of this file could lock it and block all starts.
    descriptor = os.open(root / CLEANING_LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _clean(root: Path, numbers: range, uid_base: int) -> None:
    # Directories are listed before locks: a desktop acquires its lock before it creates its
    # directory, so a living desktop of this list is among the locks.
    folders = [path for path in sorted(root.glob("*")) if _FOLDER.fullmatch(path.name)]
    living, starting = set(), False
    for path in sorted((root / LOCKS).glob("*")):
        with suppress(OSError), path.open("r+") as lock:
            if _taken(lock):
                text = lock.read()
                starting = starting or not text
                living.add(Path(text).resolve())
                continue
            _end_processes(path.name)
            if os.geteuid() == 0:
                DesktopGroup(path.name).end()
                CpuShare(path.name).remove()
            folder = DesktopDirectory(Path(lock.read()))
            # A directory that the user chose with --folder is left to the user.
            if folder.is_in(root):
                _clear(folder)
            path.unlink()
    for path in () if starting else folders:
        if path.resolve() not in living:
            with suppress(OSError):
                _clear(DesktopDirectory(path))
    # An earlier call left locks of X servers that were too new to be distinguished from starting
    # servers.
    clear_stale(desktop_users(numbers, uid_base))


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
    mark = f"{MARK}={instance}".encode()
    with ExitStack() as opened:
        poll, left = select.poll(), 0
        for name in os.listdir("/proc"):  # noqa: PTH208 -- Path objects would delay every start
            # A service that was started from a shell on the dead desktop has inherited its mark.
            if not name.isdigit() or int(name) == os.getpid():
                continue
            with suppress(OSError):
                # The pidfd comes before the check, so that a reused pid is not killed.
                pidfd = os.pidfd_open(int(name))
                opened.callback(os.close, pidfd)
                if mark in Path("/proc", name, "environ").read_bytes().split(b"\0"):
                    signal.pidfd_send_signal(pidfd, signal.SIGKILL)
                    poll.register(pidfd, select.POLLIN)
                    left += 1
        for _ in range(left):
            for pidfd, _event in poll.poll(END_MS):
                poll.unregister(pidfd)


def _clear(folder: DesktopDirectory) -> None:
    with suppress(FileNotFoundError):
        folder.clear()
