"""Measurement of free space."""

import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from deskhand.recording.free_space import DiskSpace, scarcest

VALID_SECONDS = 1.0
"""Time for which a measurement is used again."""


def space_of(folder: Path) -> DiskSpace:
    """Return the space of the disk that holds a folder. Raises OSError."""
    usage = shutil.disk_usage(folder)
    return DiskSpace(usage.free, usage.total)


class DiskMeter:
    """Measures the disks that hold some folders, at most once a second. Thread-safe."""

    def __init__(
        self,
        *folders: Path,
        clock: Callable[[], float] = time.monotonic,
        space_of: Callable[[Path], DiskSpace] = space_of,
    ) -> None:
        self._folders = folders
        self._clock = clock
        self._space_of = space_of
        self._measured: tuple[float, DiskSpace] | None = None

    def space(self) -> DiskSpace:
        """Return the space of the scarcest disk. statvfs(2) blocks while a server is silent."""
        now = self._clock()
        measured = self._measured
        if measured is None or now - measured[0] >= VALID_SECONDS:
            self._measured = measured = now, self.measure()
        return measured[1]

    def measure(self) -> DiskSpace:
        """Return the space as it is now."""
        found = []
        for folder in self._folders:
            # A folder that is missing holds nothing that could fill up.
            with suppress(OSError):
                found.append(self._space_of(folder))
        return scarcest(found)
