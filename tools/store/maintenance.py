"""The stored files as a whole: what is too much goes, what the database lost comes back."""

import asyncio
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from sqlalchemy.ext.asyncio import AsyncSession

from . import files
from .database import Store
from .errors import UnknownRow
from .file_store import FileStore
from .retention import Kept, RetentionLimits, Room, expired
from .upload_queue import UploadQueue


class Rebuilt(NamedTuple):
    """What a rebuilding changed."""

    restored: int
    """Files that the database did not know any more."""
    forgotten: int
    """Rows whose files are gone."""


class StorageMaintenance:
    """Keeps stored files within their limits."""

    def __init__(
        self,
        store: Store,
        folder: Path,
        now: Callable[[], float],
        limits: RetentionLimits | None = None,
        room: Callable[[Path], Room] | None = None,
        outbox: UploadQueue | None = None,
    ) -> None:
        self._store = store
        self._disk = FileStore(folder)
        self._folder = folder
        self._now = now
        self._limits = limits or RetentionLimits()
        # What is in a bucket takes no room here, and removing it would free none.
        self._room = room or (room_of if outbox is None else lambda _: Room(1, 1))
        self._outbox = outbox

    async def tidy(self) -> list[Kept]:
        """Remove what is too old or too much; what went."""
        room = await asyncio.to_thread(self._room, self._folder)
        known = await self._store.read(files.kept)
        gone = expired(known, self._now(), room, self._limits)
        await self._remove(gone)
        return gone

    async def rebuild(self) -> Rebuilt:
        """Make the database say what lies on the disk and in the bucket."""
        described = dict(await self._outbox.descriptions()) if self._outbox else {}
        # Of two descriptions the one that still waits here is newer.
        described |= await asyncio.to_thread(lambda: dict(self._disk.descriptions()))
        elsewhere = await self._outbox.ids() if self._outbox else set()

        async def restore(session: AsyncSession) -> int:
            made = [await files.restore(session, name, text) for name, text in described.items()]
            return sum(made)

        restored = await self._store.write(restore)
        known = await self._store.read(files.kept)
        lost = [
            kept
            for kept in known
            if kept.id not in elsewhere and not self._disk.path(kept.id).exists()
        ]
        await self._remove(lost)
        return Rebuilt(restored, len(lost))

    async def _remove(self, gone: list[Kept]) -> None:
        async def forget(session: AsyncSession) -> None:
            for kept in gone:
                with suppress(UnknownRow):
                    await files.delete(session, kept.id)

        if gone:
            await self._store.write(forget)
            # Who reads one of them just now reads it to its end.
            await asyncio.to_thread(self._unlink, gone)
            if self._outbox is not None:
                await self._outbox.forget([kept.id for kept in gone])

    def _unlink(self, gone: list[Kept]) -> None:
        for kept in gone:
            self._disk.delete(kept.id)


def room_of(folder: Path) -> Room:
    """What the disk of a folder has."""
    folder.mkdir(parents=True, exist_ok=True)
    usage = shutil.disk_usage(folder)
    return Room(usage.free, usage.total)
