"""Files that appear complete in the downloads folder, observed by inotify(7)."""

import ctypes
import os
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

# IN_CLOSE_WRITE, IN_MOVED_TO and IN_ONLYDIR of <sys/inotify.h>.
_CLOSE_WRITE, _MOVED_TO = 0x8, 0x80
_ONLY_FOLDERS = 0x01000000
_CLOEXEC, _NONBLOCK = os.O_CLOEXEC, os.O_NONBLOCK
_HEAD = struct.Struct("iIII")
_UNFINISHED = (".crdownload", ".part", ".tmp", ".download")
_READ_SIZE = 65_536


@dataclass(frozen=True)
class Download:
    """A complete file."""

    path: str
    name: str
    size: int

    def to_json(self) -> dict[str, Any]:
        """Return the JSON of the file."""
        return asdict(self)


class DownloadsFolder:
    """Observes one folder, without its subfolders. Close it."""

    def __init__(self, folder: Path) -> None:
        """Create the folder if it is missing, and observe it from now on.

        Raises:
            OSError: If the folder cannot be created, or if the user's limit of inotify instances
                or watches is reached (inotify(7), /proc interfaces).
        """
        self._folder = folder
        self._last_reported = (0, 0, 0)
        folder.mkdir(parents=True, exist_ok=True)
        kernel = ctypes.CDLL(None, use_errno=True)
        self.descriptor: int = kernel.inotify_init1(_CLOEXEC | _NONBLOCK)
        if self.descriptor < 0:
            raise _last_error()
        mask = _CLOSE_WRITE | _MOVED_TO | _ONLY_FOLDERS
        if kernel.inotify_add_watch(self.descriptor, os.fsencode(folder), mask) < 0:
            error = _last_error()
            self.close()
            raise error

    def close(self) -> None:
        """Stop observing; twice is fine."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def read(self) -> list[Download]:
        """Return the files that were completed since the last call, without waiting."""
        found: list[Download] = []
        with suppress(BlockingIOError):
            for name in _names(os.read(self.descriptor, _READ_SIZE)):
                found += self._complete(self._folder / name)
        return found

    def _complete(self, path: Path) -> Iterator[Download]:
        if path.name.startswith(".") or path.name.endswith(_UNFINISHED):
            return
        try:
            status = path.stat()
        except OSError:
            return
        # Browsers reserve the name with an empty file and then rename the complete one to it. The
        # event of the first may be read when the second is there already: both then have the same
        # state, which is reported once.
        state = (status.st_ino, status.st_size, status.st_mtime_ns)
        if status.st_size and state != self._last_reported:
            self._last_reported = state
            yield Download(str(path), path.name, status.st_size)


def _last_error() -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number))


def _names(data: bytes) -> Iterator[str]:
    at = 0
    while at < len(data):
        _, _, _, length = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        # The kernel pads a name with NUL bytes to the alignment of the next event (inotify(7)).
        name = data[at : at + length].split(b"\0", 1)[0]
        at += length
        if name:
            yield os.fsdecode(name)
