"""Parser of inotify(7) events, and the changes that they amount to."""

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

# IN_ONLYDIR: the call fails with ENOTDIR if a file has taken the directory's place. MODIFY reports
# a log file that is never closed; the repetitions that it causes are merged in `changes`.
WANTED = CLOSE_WRITE | MODIFY | MOVED_FROM | MOVED_TO | CREATE | DELETE | ONLY_DIR

# `wd`, `mask`, `cookie`, `len`; the name after it is padded with NUL up to `len` (inotify(7)).
_EVENT_HEADER = struct.Struct("iIII")


@dataclass(frozen=True)
class InotifyEvent:
    """One ``struct inotify_event``."""

    watch: int
    """Watch descriptor; -1 for an overflow."""
    mask: int
    cookie: int
    """Connects both events of a rename; 0 for others."""
    name: bytes

    @property
    def is_dir(self) -> bool:
        """True if the event is about a directory."""
        return bool(self.mask & IS_DIR)


def parse_events(data: bytes) -> Iterator[InotifyEvent]:
    """Yield the events in the result of one read(2), which never splits an event."""
    offset = 0
    while offset + _EVENT_HEADER.size <= len(data):
        watch, mask, cookie, length = _EVENT_HEADER.unpack_from(data, offset)
        offset += _EVENT_HEADER.size
        yield InotifyEvent(watch, mask, cookie, data[offset : offset + length].rstrip(b"\0"))
        offset += length


@dataclass(frozen=True)
class Change:
    """A change of a file or directory, as listeners get it."""

    kind: str
    """``created``, ``modified``, ``deleted``, ``moved``, or ``overflow`` when events were lost."""
    path: str
    is_dir: bool = False
    origin: str = ""
    """Previous path of a moved file."""

    def to_json(self) -> dict[str, object]:
        """Return the JSON of the change."""
        moved = {"from": self.origin} if self.origin else {}
        return {"kind": self.kind, "path": self.path, "is_dir": self.is_dir} | moved


def changes(events: list[tuple[str, InotifyEvent]]) -> list[Change]:
    """Return the changes in order; ``events`` contains each event with its full path.

    Both events of a rename become one change, and so do consecutive writes to a file.
    """
    # A rename whose events are in different reads, or which crosses the border of the tree, has
    # only one of them here: `_change` reports it as deleted or created.
    arrivals = {event.cookie: path for path, event in events if event.mask & MOVED_TO}
    departures = {event.cookie for _, event in events if event.mask & MOVED_FROM}
    result: list[Change] = []
    for path, event in events:
        change = _change(path, event, arrivals, departures)
        if change is not None and (not result or result[-1] != change):
            result.append(change)
    return result


def _change(
    path: str, event: InotifyEvent, arrivals: dict[int, str], departures: set[int]
) -> Change | None:
    mask = event.mask
    if mask & OVERFLOW:
        return Change("overflow", path)
    if mask & MOVED_FROM:
        destination = arrivals.get(event.cookie)
        if destination is None:
            return Change("deleted", path, event.is_dir)
        return Change("moved", destination, event.is_dir, path)
    if mask & CREATE or (mask & MOVED_TO and event.cookie not in departures):
        return Change("created", path, event.is_dir)
    if mask & DELETE:
        return Change("deleted", path, event.is_dir)
    if mask & (CLOSE_WRITE | MODIFY):
        return Change("modified", path)
    return None
