"""Copy of a process's output on disk, for tools such as tail and grep."""

import json
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from .requests import MOST_KEPT


def open_output(path: Path) -> int:
    """Open the file for appending, and create it and its parents if necessary.

    Raises:
        OSError: If it cannot be opened, or is no regular file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # O_NONBLOCK: opening a FIFO without a reader must fail, not block.
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o666)
    try:
        check_regular(descriptor, path)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def check_regular(descriptor: int, path: Path) -> None:
    """Raise OSError unless the descriptor is of a regular file.

    Writes to a device or a FIFO could block the event loop, which writes the copy.
    """
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise OSError(f"{path} is not a file")


def replace_exit(path: Path, fields: Mapping[str, object]) -> None:
    """Write the exit file atomically: a reader never sees half of it.

    Raises:
        OSError: If it cannot be written.
    """
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_text(json.dumps(dict(fields)) + "\n")
    fresh.replace(path)


class OutputFile:
    """Writes output to an open file, which it closes.

    A write error ends the copy, never the process; ``lost`` contains the reason.
    """

    def __init__(self, descriptor: int, path: Path, exit_path: Path, most: int = MOST_KEPT) -> None:
        self.path = path
        self.exit_path = exit_path
        """JSON file about the exit of the process."""
        self.lost = ""
        self._remaining = most
        self._descriptor: int | None = descriptor

    def write(self, data: bytes) -> None:
        """Append ``data``, up to the limit."""
        view = memoryview(data)[: self._remaining]
        try:
            while view and self._descriptor is not None:
                written = os.write(self._descriptor, view)
                self._remaining -= written
                view = view[written:]
        except OSError as error:
            self.lost = error.strerror or str(error)
            self.close()

    def write_exit(self, fields: Mapping[str, object]) -> None:
        """Write the exit file, unless that fails."""
        with suppress(OSError):
            replace_exit(self.exit_path, fields)

    def close(self) -> None:
        """Close the file; later output is not copied."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
