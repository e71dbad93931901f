"""Decisions by the free space of a disk. Pure.

A disk is *low* when it has less than 1 GiB or 2 % free, whichever is smaller. Then nothing new
begins: recordings are refused, and so are uploads and writes through the APIs. What runs
continues: recordings until a quarter of that is left (they are finished and kept), turns of chats
until the disk is full. The store then releases its reserve, by which they can finish. Once that
is used up too, turns wait until there is room.
"""

from collections.abc import Iterable
from dataclasses import dataclass

MIB = 1 << 20
GIB = 1 << 30


@dataclass(frozen=True)
class Threshold:
    """Free bytes of a disk below which something happens."""

    most: int
    """The threshold of a large disk in bytes."""
    share: float
    """The threshold of a small disk, as a share of its size."""

    def bytes_of(self, total: int) -> int:
        """Return the threshold of a disk with so many bytes."""
        return min(self.most, int(total * self.share))


LOW = Threshold(GIB, 0.02)


@dataclass(frozen=True)
class DiskSpace:
    """Free and total bytes of the disk that holds a folder."""

    free: int
    total: int

    @property
    def needed(self) -> int:
        """The free bytes that something new requires."""
        return LOW.bytes_of(self.total)

    @property
    def low(self) -> bool:
        """True if nothing new may begin."""
        return self.free < self.needed

    @property
    def refusal(self) -> str:
        """The sentence that refuses something new; empty if nothing is refused."""
        if not self.low:
            return ""
        free, needed = (round(size / MIB) for size in (self.free, self.needed))
        return f"the disk is almost full: {free} MiB free, {needed} MiB are needed for new data"

    def holds(self, more: int) -> bool:
        """Return True if the disk is not low with so many bytes more on it."""
        return self.free - more >= self.needed

    def to_json(self) -> dict[str, object]:
        """Return the JSON of the status."""
        sizes = {"free_bytes": self.free, "total_bytes": self.total, "needed_bytes": self.needed}
        return {**sizes, "low": self.low}


def scarcest(disks: Iterable[DiskSpace]) -> DiskSpace:
    """Return the disk that has the least above its threshold; one without bytes if none exists."""
    return min(disks, key=lambda disk: disk.free - disk.needed, default=DiskSpace(0, 0))
