"""A copy of a process's output on disk, where tail and grep work on it."""

import json
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

MOST = 64 * 1024 * 1024
"""Bytes that are copied; the rest of an endless output is not worth a disk."""


class OutputFile:
    """Takes output in and, at the end, a note about the exit beside it.

    A disk that is full costs the copy, never the process: ``lost`` says why it ends early.
    """

    def __init__(self, path: Path, exit_path: Path, most: int = MOST) -> None:
        """Open the file, made with its parents, to be written at its end.

        Raises:
            OSError: If it cannot be opened, or is no regular file.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(path, flags, 0o666)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise OSError(f"{path} is not a file")
        self.path = path
        self.exit_path = exit_path
        self.lost = ""
        self._room = most
        self._descriptor: int | None = descriptor

    def write(self, data: bytes) -> None:
        """Copy ``data``, as much of it as there is room for."""
        view = memoryview(data)[: self._room]
        try:
            while view and self._descriptor is not None:
                written = os.write(self._descriptor, view)
                self._room -= written
                view = view[written:]
        except OSError as error:
            self.lost = error.strerror or str(error)
            self.close()

    def tell_exit(self, facts: Mapping[str, object]) -> None:
        """Write how it ended, so that nobody ever reads half of it."""
        fresh = self.exit_path.with_name(f".{self.exit_path.name}.new")
        with suppress(OSError):
            fresh.write_text(json.dumps(dict(facts)) + "\n")
            fresh.replace(self.exit_path)

    def close(self) -> None:
        """Close the file; what comes later is not copied."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
