"""Disk space that is reserved while it is not needed, and released to finish what runs.

On a disk that is full to the last byte the recorder could not even write that a recording has
ended, nor the store that a turn has.
"""

import os
from contextlib import suppress
from pathlib import Path


class DiskReserve:
    """A file that occupies space. All methods block."""

    def __init__(self, path: Path, size: int) -> None:
        self._path = path
        self._size = size

    @property
    def size(self) -> int:
        """Bytes that are reserved."""
        return self._size

    @property
    def held(self) -> bool:
        """True if the space is reserved now."""
        with suppress(OSError):
            return self._path.stat().st_size == self._size
        return False

    def take(self) -> None:
        """Reserve the space; on a disk that is too full nothing is reserved."""
        try:
            # Not truncate(): a sparse file occupies no blocks.
            with self._path.open("wb") as file:
                self._path.chmod(0o600)
                os.posix_fallocate(file.fileno(), 0, self._size)
        except OSError:
            # To go on without a reserve is better than not to go on.
            self.release()

    def release(self) -> bool:
        """Release the space; return False if it was not reserved."""
        with suppress(OSError):
            self._path.unlink()
            return True
        return False
