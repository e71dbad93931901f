"""Recordings that a dead desktop left in its folder.

The folder belongs to the desktop's user, whose processes may outlive the desktop. So each file is
opened relative to the descriptor of its directory, links are refused, and so are files with a
second name. The caller has checked all names (`requests`).
"""

import contextlib
import fcntl
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from deskhand.desktop.isolation.data_dir import LOCKS

from .requests import FILE, RECORDING

RECORDINGS = "recordings"
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def recordings(folder: Path) -> dict[str, list[str]]:
    """Return the names of the files of each recording, by the id of the recording."""
    found = {}
    with contextlib.suppress(OSError), _opened(folder) as inside:
        for recording_id in sorted(filter(RECORDING.fullmatch, _names(inside))):
            found[recording_id] = _files(folder, recording_id)
    return found


def open_file(folder: Path, recording_id: str, name: str) -> int:
    """Return a read-only descriptor of a file.

    Raises:
        OSError: If it is missing, or is not an ordinary file with one name.
    """
    with _opened(folder, recording_id) as inside:
        # Without O_NONBLOCK the opening of a FIFO would wait for its writer.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(name, flags, dir_fd=inside)
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
        os.close(descriptor)
        raise PermissionError(f"{folder.name}: {name} is not an ordinary file")
    return descriptor


def remove_recording(folder: Path, recording_id: str) -> None:
    """Remove a recording; one that is missing is no error."""
    with contextlib.suppress(FileNotFoundError), _opened(folder) as inside:
        if stat.S_ISDIR(os.stat(recording_id, dir_fd=inside, follow_symlinks=False).st_mode):
            # `rmtree` of a name in an open directory follows no link (shutil).
            shutil.rmtree(recording_id, dir_fd=inside)
        else:
            # The desktop's user may have put a link in the place of a recording.
            os.unlink(recording_id, dir_fd=inside)


def is_locked(root: Path, folder: Path) -> bool:
    """Return whether a process of the desktop still runs: it holds the lock (flock(2))."""
    for lock in (root / LOCKS).glob("*"):
        with contextlib.suppress(OSError), lock.open() as file:
            if file.read() == str(folder):
                try:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except BlockingIOError:
                    return True
    return False


def _files(folder: Path, recording_id: str) -> list[str]:
    with contextlib.suppress(OSError), _opened(folder, recording_id) as inside:
        return sorted(filter(FILE.fullmatch, _names(inside)))
    return []


def _names(folder: int) -> list[str]:
    with os.scandir(folder) as found:
        return [one.name for one in found]


@contextlib.contextmanager
def _opened(folder: Path, *below: str) -> Iterator[int]:
    """Open the recordings of a desktop, or one of them, while the block runs."""
    with contextlib.ExitStack() as opened:
        inside = os.open(folder, _DIRECTORY)
        opened.callback(os.close, inside)
        for name in (RECORDINGS, *below):
            inside = os.open(name, _DIRECTORY, dir_fd=inside)
            opened.callback(os.close, inside)
        yield inside
