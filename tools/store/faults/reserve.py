"""Space of the store's disk: what runs may use more of it than what is new.

The store holds a file of 64 MiB. When a transaction or a file finds the disk full, the file is
removed, and turns that run can be finished. The file is written again when there is room for it.
"""

import asyncio
import logging
from pathlib import Path
from threading import Lock

from deskhand.recording.disk.meter import DiskMeter
from deskhand.recording.disk.reserve import DiskReserve

log = logging.getLogger(__name__)

NAME = "reserve"
SIZE = 64 << 20
WORTH_RETRYING = 1 << 20
"""Free bytes that are enough for most transactions."""
IN_USE = "the disk is almost full: what runs is finished on the space that was reserved for it"
INTERVAL = 5.0
"""Seconds between two attempts to take the reserve again."""


class StoreReserve:
    """The reserve in a data directory. All methods but ``run`` block."""

    def __init__(self, folder: Path, size: int = SIZE, meter: DiskMeter | None = None) -> None:
        self._file = DiskReserve(folder / NAME, size)
        self._meter = meter or DiskMeter(folder)
        self._releasing = Lock()
        self._in_use = False

    @property
    def in_use(self) -> bool:
        """True from the release until the space is reserved again."""
        return self._in_use

    @property
    def refusal(self) -> str:
        """Why nothing new is stored; empty if there is room."""
        # The released space is for what runs, although it counts as free.
        return IN_USE if self._in_use else self._meter.space().refusal

    async def run(self) -> None:
        """Keep the space reserved whenever there is room for it; never return."""
        while True:
            await asyncio.to_thread(self.keep)
            await asyncio.sleep(INTERVAL)

    def keep(self) -> None:
        """Reserve the space, if the disk is not low then."""
        if not self._file.held and self._meter.measure().holds(self._file.size):
            self._file.take()
            self._in_use = self._in_use and not self._file.held

    def release(self) -> bool:
        """Release the space if the disk is low; return True if another attempt may succeed."""
        with self._releasing:
            if self._meter.measure().low and self._file.release():
                self._in_use = True
                mebibytes = self._file.size >> 20
                log.warning("the disk is full: the reserve of %d MiB is released", mebibytes)
                return True
            # The attempt may have failed just before another one released the space.
            return self._in_use and self._meter.measure().free >= WORTH_RETRYING

    def to_json(self) -> dict[str, object]:
        """Return the JSON of the status."""
        state = "held" if self._file.held else "released"
        low = bool(self.refusal)
        return {**self._meter.space().to_json(), "low": low, "reserve": state}
