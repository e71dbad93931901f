"""Disk space that is reserved while a file grows and released when the file must be closed.

On a disk that is full to the last byte the recorder could not even write that a recording has
ended.
"""

import os
from contextlib import suppress
from pathlib import Path

RESERVE = ".ballast"
"""Suffix of the file that reserves the space."""

ENOUGH = 512 * 1024
"""Bytes for the description of a part, its thumbnail and, unless it is very long, its moov box."""


class DiskReserve:
    """Reserved space next to a file; on a full disk nothing is reserved."""

    def __init__(self, beside: Path) -> None:
        self._path = beside.with_suffix(RESERVE)
        try:
            # Not truncate(): a sparse file occupies no blocks.
            with self._path.open("wb") as file:
                os.posix_fallocate(file.fileno(), 0, ENOUGH)
        except OSError:
            # A recording without a reserve is better than none.
            self.drop()

    def drop(self) -> None:
        """Release the space; idempotent."""
        with suppress(OSError):
            self._path.unlink()
