"""Reports files that appear complete in the downloads folder, by inotify(7)."""

import ctypes
import logging
import os
import select
import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

logger = logging.getLogger(__name__)

# IN_CLOSE_WRITE, IN_MOVED_TO and IN_ONLYDIR of <sys/inotify.h>.
_CLOSE_WRITE, _MOVED_TO = 0x8, 0x80
_ONLY_FOLDERS = 0x01000000
_CLOEXEC, _NONBLOCK = os.O_CLOEXEC, os.O_NONBLOCK
_HEAD = struct.Struct("iIII")
_UNFINISHED = (".crdownload", ".part", ".tmp", ".download")


class Downloads:
    """Watches one folder, without its subfolders, in its own thread."""

    def __init__(self, folder: Path, publish: Callable[[str, dict[str, Any]], object]) -> None:
        self._folder = folder
        self._publish = publish
        self._thread = threading.Thread(target=self._watch, name="downloads", daemon=True)
        self._source = -1
        self._last_reported = (0, 0, 0)
        self._wake_read, self._wake_write = -1, -1

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def open(self) -> None:
        """Create the folder if it is missing, and watch it from now on.

        The number of inotify instances and watches of a user is limited (inotify(7), /proc
        interfaces). When the limit is reached, a warning is logged and no download is reported.

        Raises:
            OSError: If the folder cannot be created.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        kernel = ctypes.CDLL(None, use_errno=True)
        self._source = kernel.inotify_init1(_CLOEXEC | _NONBLOCK)
        mask = _CLOSE_WRITE | _MOVED_TO | _ONLY_FOLDERS
        encoded = os.fsencode(self._folder)
        if self._source < 0 or kernel.inotify_add_watch(self._source, encoded, mask) < 0:
            logger.warning("downloads are not reported: %s", os.strerror(ctypes.get_errno()))
            return
        self._wake_read, self._wake_write = os.pipe()
        self._thread.start()

    def close(self) -> None:
        """Stop watching; closing twice is fine."""
        if self._wake_write >= 0:
            os.write(self._wake_write, b"!")
            self._thread.join()
            os.close(self._wake_read)
            os.close(self._wake_write)
            self._wake_read, self._wake_write = -1, -1
        if self._source >= 0:
            os.close(self._source)
            self._source = -1

    def _watch(self) -> None:
        while self._wake_read not in select.select([self._source, self._wake_read], [], [])[0]:
            for name in _names(os.read(self._source, 65536)):
                self._report(self._folder / name)

    def _report(self, path: Path) -> None:
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
            data = {"path": str(path), "name": path.name, "size": status.st_size}
            self._publish("download_finished", data)


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
