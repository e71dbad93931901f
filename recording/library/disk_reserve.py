"""Room on the disk that is held while a file grows, and given up when it must be closed.

On a disk that is full to the last byte a recording could not even say that it has ended.
"""

import os
from contextlib import suppress
from pathlib import Path

RESERVE = ".ballast"
"""End of the name of the file that holds the room."""

ENOUGH = 512 * 1024
"""Bytes for the words about a part, its thumbnail and, unless it is very long, its index."""


class DiskReserve:
    """Holds room beside a file; where there is none, none is held."""

    def __init__(self, beside: Path) -> None:
        self._path = beside.with_suffix(RESERVE)
        try:
            with self._path.open("wb") as file:
                os.posix_fallocate(file.fileno(), 0, ENOUGH)
        except OSError:
            self.drop()

    def drop(self) -> None:
        """Give the room up; twice is fine."""
        with suppress(OSError):
            self._path.unlink()
