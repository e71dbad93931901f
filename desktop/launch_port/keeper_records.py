"""Records of the keepers that were started, in a folder that only their user can read."""

import errno
import json
import os
import signal
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from deskhand.desktop.isolation.process_identity import boot_id, start_time

RECORDS = "launched"
"""Folder beside the desktops' directories."""


@dataclass(frozen=True)
class KeeperRecord:
    """The process that keeps a desktop, as `process_identity` identifies it."""

    owner: str
    """The data directory of the control plane that the desktop belongs to."""
    pid: int
    start_time: int
    boot_id: str

    @property
    def is_alive(self) -> bool:
        """Return whether the process still runs."""
        return self.boot_id == boot_id() and start_time(self.pid) == self.start_time

    def send(self, number: int) -> None:
        """Send a signal.

        Raises:
            ProcessLookupError: If the process has ended.
        """
        descriptor = os.pidfd_open(self.pid)
        try:
            # Checked after the pidfd is open, which never refers to a later process of this pid.
            if not self.is_alive:
                raise ProcessLookupError(errno.ESRCH, f"process {self.pid} has ended")
            signal.pidfd_send_signal(descriptor, number)
        finally:
            os.close(descriptor)


class KeeperRecords:
    """The records of one owner's desktops; ``root`` is the folder of all desktops."""

    def __init__(self, root: Path, owner: str) -> None:
        self._folder = root / RECORDS
        self._owner = owner

    def add(self, desktop_id: str, pid: int) -> None:
        """Record a process that runs."""
        self.keep(desktop_id, start_time(pid) or 0, boot_id(), pid)

    def keep(self, desktop_id: str, started: int, boot: str, pid: int) -> None:
        """Record a process that was started then, in that boot; it may have ended."""
        record = KeeperRecord(self._owner, pid, started, boot)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = self._folder / f"{desktop_id}.new"
        fresh.write_text(json.dumps(asdict(record)))
        fresh.replace(self._path(desktop_id))

    def get(self, desktop_id: str) -> KeeperRecord | None:
        """Return a record, ``None`` if this owner has no such desktop."""
        with suppress(OSError, ValueError, TypeError):
            record = KeeperRecord(**json.loads(self._path(desktop_id).read_text()))
            return record if record.owner == self._owner else None
        return None

    def ids(self) -> list[str]:
        """Return the ids of this owner's desktops."""
        names = sorted(path.stem for path in self._folder.glob("*.json"))
        return [name for name in names if self.get(name) is not None]

    def remove(self, desktop_id: str) -> None:
        """Remove a record; one that is missing is no error."""
        self._path(desktop_id).unlink(missing_ok=True)

    def _path(self, desktop_id: str) -> Path:
        return self._folder / f"{desktop_id}.json"
