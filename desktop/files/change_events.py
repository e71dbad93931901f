"""What the kernel says about watched directories, read from its bytes: inotify(7)."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

MODIFY = 0x2
CLOSE_WRITE = 0x8
MOVED_FROM = 0x40
MOVED_TO = 0x80
CREATE = 0x100
DELETE = 0x200
OVERFLOW = 0x4000
IGNORED = 0x8000
IS_DIR = 0x4000_0000
ONLY_DIR = 0x0100_0000

WANTED = CLOSE_WRITE | MODIFY | MOVED_FROM | MOVED_TO | CREATE | DELETE | ONLY_DIR

_HEAD = struct.Struct("iIII")


@dataclass(frozen=True)
class Notice:
    """One event of the kernel."""

    watch: int
    """Of which watch; -1 for an overflow."""
    mask: int
    cookie: int
    """The same for both halves of a move, else 0."""
    name: bytes

    @property
    def is_dir(self) -> bool:
        """Whether it is about a directory."""
        return bool(self.mask & IS_DIR)


def notices(data: bytes) -> Iterator[Notice]:
    """Yield the events in what one read gave; the kernel never cuts one in two."""
    at = 0
    while at + _HEAD.size <= len(data):
        watch, mask, cookie, length = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        yield Notice(watch, mask, cookie, data[at : at + length].rstrip(b"\0"))
        at += length


@dataclass(frozen=True)
class Change:
    """What a listener is told."""

    kind: str
    """``created``, ``modified``, ``deleted``, ``moved`` or ``overflow``: some were lost."""
    path: str
    is_dir: bool = False
    origin: str = ""
    """Where something was that has moved."""

    def to_json(self) -> dict[str, object]:
        """Return it as it goes over the wire."""
        moved = {"from": self.origin} if self.origin else {}
        return {"kind": self.kind, "path": self.path, "is_dir": self.is_dir} | moved


def changes(found: list[tuple[str, Notice]]) -> list[Change]:
    """Return what happened, in order; ``found`` is each notice with the path it is about.

    Both halves of a move are one change, several writes to a file in a row as well.
    """
    arrivals = {notice.cookie: path for path, notice in found if notice.mask & MOVED_TO}
    departures = {notice.cookie for _, notice in found if notice.mask & MOVED_FROM}
    told: list[Change] = []
    for path, notice in found:
        change = _change(path, notice, arrivals, departures)
        if change is not None and (not told or told[-1] != change):
            told.append(change)
    return told


def _change(
    path: str, notice: Notice, arrivals: dict[int, str], departures: set[int]
) -> Change | None:
    mask = notice.mask
    if mask & OVERFLOW:
        return Change("overflow", path)
    if mask & MOVED_FROM:
        goal = arrivals.get(notice.cookie)
        if goal is None:
            return Change("deleted", path, notice.is_dir)
        return Change("moved", goal, notice.is_dir, path)
    if mask & CREATE or (mask & MOVED_TO and notice.cookie not in departures):
        return Change("created", path, notice.is_dir)
    if mask & DELETE:
        return Change("deleted", path, notice.is_dir)
    if mask & (CLOSE_WRITE | MODIFY):
        return Change("modified", path)
    return None
