"""What dead desktops left in their folders, behind the port ``DesktopRemains``.

A desktop is dead when its keeper has ended and its lock (flock(2)) is free: a service whose keeper
was killed still closes its recordings. The entry of a dead desktop stays in the registry until its
last recording is removed, as it names the folder.

The folder belongs to the desktop's user, whose processes may outlive the desktop. So each file is
opened relative to the descriptor of its directory, links are refused, and so are files with a
second name.
"""

import asyncio
import contextlib
import fcntl
import os
import re
import shutil
import stat
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from deskhand.desktop.isolation.data_dir import LOCKS
from deskhand.tools.recovery.ports import LeftRecording

from .registry import DesktopRegistry, RegisteredDesktop, is_alive
from .sockets import SOCKETS, SocketFolder

RECORDINGS = "recordings"

_RECORDING = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_FILE = re.compile(r"[1-9][0-9]*\.(mp4|json|journal|jpg)")
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class FleetRemains:
    """The remains of the desktops of one registry; ``root`` is the folder with their locks."""

    def __init__(self, entries: DesktopRegistry, root: Path) -> None:
        self._entries = entries
        self._locks = root / LOCKS
        self._sockets = SocketFolder(root / SOCKETS)

    def list(self) -> Sequence[LeftRecording]:
        """Return the recordings of all dead desktops; see ``DesktopRemains``."""
        return [
            LeftRecording(entry.id, recording_id, self._files(entry, recording_id))
            for entry in self._entries.all()
            if self.is_dead(entry)
            for recording_id in self._recordings(entry)
        ]

    def open(self, left: LeftRecording, name: str) -> int:
        """Return a read-only descriptor of a file; see ``DesktopRemains``.

        Raises:
            OSError: If it is missing, or is not an ordinary file with one name.
        """
        entry = self._entries.get(left.desktop_id)
        if entry is None or not _FILE.fullmatch(name) or not self.is_dead(entry):
            raise FileNotFoundError(f"{left.desktop_id}: no file {name} of a dead desktop")
        with _folder(entry, left.recording_id) as folder:
            # Without O_NONBLOCK the opening of a FIFO would wait for its writer.
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            descriptor = os.open(name, flags, dir_fd=folder)
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
            os.close(descriptor)
            raise PermissionError(f"{left.desktop_id}: {name} is not an ordinary file")
        return descriptor

    def remove(self, left: LeftRecording) -> None:
        """Remove a recording, and with the last one the desktop; see ``DesktopRemains``."""
        entry = self._entries.get(left.desktop_id)
        if entry is None or not self.is_dead(entry):
            return
        # `rmtree` of a name in an open directory follows no link (shutil, avoids_symlink_attacks).
        with contextlib.suppress(FileNotFoundError), _folder(entry) as folder:
            if _RECORDING.fullmatch(left.recording_id):
                _remove(left.recording_id, folder)
        self.remove_vacant(entry)

    def remove_vacant(self, entry: RegisteredDesktop) -> bool:
        """Remove folder and entry of a dead desktop without recordings; return whether it was."""
        if not self.is_dead(entry) or self._recordings(entry):
            return False
        shutil.rmtree(entry.folder, ignore_errors=True)
        self._entries.remove(entry.id)
        self._sockets.remove(entry.id)
        return True

    def is_dead(self, entry: RegisteredDesktop) -> bool:
        """Return whether no process of the desktop can write a recording any more."""
        return not is_alive(entry) and not _held(self._lock(entry))

    async def released(self, entry: RegisteredDesktop) -> None:
        """Return when the service of a dead keeper has ended."""
        lock = self._lock(entry)
        if not _held(lock):
            return
        loop, ended = asyncio.get_running_loop(), asyncio.Event()

        def wait() -> None:
            with contextlib.suppress(OSError), lock.open() as file:
                fcntl.flock(file, fcntl.LOCK_SH)
            # The loop may be closed when the program ends first.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(ended.set)

        # A daemon: flock(2) cannot be cancelled, and the end of the program must not wait for it.
        threading.Thread(target=wait, name=f"lock of {entry.id}", daemon=True).start()
        await ended.wait()

    def _lock(self, entry: RegisteredDesktop) -> Path:
        """Return the lock of the desktop; one that does not exist if it was removed."""
        folder = str(Path(entry.folder).absolute())
        for path in self._locks.glob("*"):
            with contextlib.suppress(OSError):
                if path.read_text() == folder:
                    return path
        return self._locks / "none"

    def _recordings(self, entry: RegisteredDesktop) -> tuple[str, ...]:
        with contextlib.suppress(OSError), _folder(entry) as folder:
            return tuple(sorted(filter(_RECORDING.fullmatch, _names(folder))))
        return ()

    def _files(self, entry: RegisteredDesktop, recording_id: str) -> tuple[str, ...]:
        with contextlib.suppress(OSError), _folder(entry, recording_id) as folder:
            return tuple(sorted(filter(_FILE.fullmatch, _names(folder))))
        return ()


@contextlib.contextmanager
def _folder(entry: RegisteredDesktop, *below: str) -> Iterator[int]:
    """Open the recordings of a desktop, or one of them, while the block runs."""
    with contextlib.ExitStack() as opened:
        inside = os.open(entry.folder, _DIRECTORY)
        opened.callback(os.close, inside)
        for name in (RECORDINGS, *below):
            inside = os.open(name, _DIRECTORY, dir_fd=inside)
            opened.callback(os.close, inside)
        yield inside


def _remove(name: str, folder: int) -> None:
    if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        shutil.rmtree(name, dir_fd=folder)
    else:
        # The desktop's user may have put a link in the place of a recording.
        os.unlink(name, dir_fd=folder)


def _names(folder: int) -> Iterator[str]:
    with os.scandir(folder) as found:
        yield from (one.name for one in found)


def _held(lock: Path) -> bool:
    with contextlib.suppress(OSError), lock.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
