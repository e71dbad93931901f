"""The files of a data directory in use, as a backup reads them.

The directory may belong to another user, who may have left links in it. So each file is opened
relative to the descriptor of its folder, and no link is followed.
"""

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import BinaryIO

from deskhand.tools.store.creation.snapshot import copy_database

from .errors import BackupBusy
from .manifest import DATABASE
from .plan import WORK, is_backed_up, is_replaced_whole

_CHUNK = 1 << 20
AsOwner = Callable[[], AbstractContextManager[None]]


@dataclass(frozen=True)
class OpenFile:
    """A file of the directory, open while the caller reads it."""

    path: str
    size: int
    modified: int
    file: BinaryIO

    @contextmanager
    def stable(self) -> Iterator[tuple[Path, str, int]]:
        """Yield a path whose bytes do not change, their hash and their number."""
        with ExitStack() as stack:
            file = self.file
            if not is_replaced_whole(self.path):
                file = stack.enter_context(tempfile.TemporaryFile())
                shutil.copyfileobj(self.file, file)
                file.flush()
            file.seek(0)
            digest = hashlib.sha256()
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
            yield Path(f"/proc/self/fd/{file.fileno()}"), digest.hexdigest(), file.tell()


class DataDirectory:
    """A data directory; ``as_owner`` gives its owner's rights to a block."""

    def __init__(self, root: Path, as_owner: AsOwner) -> None:
        self._root = root
        self._as_owner = as_owner
        self.unreadable: list[str] = []
        """Paths that could not be read."""

    @contextmanager
    def locked(self) -> Iterator[Path]:
        """Yield a folder for copies; only one backup of the directory runs at a time.

        Raises:
            BackupBusy: If another one runs.
        """
        work = self._root / WORK
        with self._as_owner():
            work.mkdir(mode=0o700, exist_ok=True)
            descriptor = os.open(work, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            # The lock ends with the process, even with SIGKILL.
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._empty(work)
            yield work
            self._empty(work)
        except BlockingIOError:
            raise BackupBusy(f"another backup of {self._root} runs") from None
        finally:
            os.close(descriptor)

    @contextmanager
    def database(self, work: Path) -> Iterator[tuple[Path, OpenFile]]:
        """Yield a copy of the database of this moment, and the copy opened."""
        copy = work / DATABASE
        with self._as_owner():
            copy_database(self._root / DATABASE, copy)
            file = copy.open("rb")
        with file:
            found = os.fstat(file.fileno())
            yield copy, OpenFile(DATABASE, found.st_size, found.st_mtime_ns, file)

    def files(self) -> Iterator[OpenFile]:
        """Yield each file that belongs in a backup; it is closed when the next one is asked for."""
        for folder, _, names, descriptor in os.fwalk(self._root):
            for name in sorted(names):
                path = Path(folder, name).relative_to(self._root).as_posix()
                if is_backed_up(path):
                    yield from self._opened(path, name, descriptor)

    def _opened(self, path: str, name: str, folder: int) -> Iterator[OpenFile]:
        try:
            descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
        except FileNotFoundError:
            # Removed since the folder was listed.
            return
        except OSError:
            self.unreadable.append(path)
            return
        with os.fdopen(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            if S_ISREG(found.st_mode):
                yield OpenFile(path, found.st_size, found.st_mtime_ns, file)

    def _empty(self, work: Path) -> None:
        with self._as_owner():
            for entry in work.iterdir():
                with suppress(FileNotFoundError):
                    entry.unlink()
