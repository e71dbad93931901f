"""Maintenance of the stored files as a whole: retention, and rebuilding of a lost database."""

import asyncio
import logging
import shutil
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from sqlalchemy.ext.asyncio import AsyncSession

from . import files, messages
from .database import Store
from .errors import BadPack
from .file_store import FileStore
from .packs.pack import PackedPicture
from .retention import HISTORY_PICTURES, Kept, RetentionLimits, Room, expired
from .tables.held_pictures import held_ids
from .upload_queue import UploadQueue

log = logging.getLogger(__name__)
Pictures = tuple[PackedPicture, ...]


class Rebuilt(NamedTuple):
    """Changes that a rebuilding has made."""

    restored: int
    """Files whose rows were missing in the database."""
    forgotten: int
    """Rows whose files do not exist any more."""


class StorageMaintenance:
    """Enforces the limits on stored files, and repairs the database from the files."""

    def __init__(
        self,
        store: Store,
        folder: Path,
        now: Callable[[], float],
        limits: RetentionLimits | None = None,
        room: Callable[[Path], Room] | None = None,
        upload_queue: UploadQueue | None = None,
    ) -> None:
        self._store = store
        self._disk = FileStore(folder)
        self._folder = folder
        self._now = now
        self.limits = limits or RetentionLimits()
        # Files in a bucket take no room on this disk, and removing them would free none.
        self._room = room or (room_of if upload_queue is None else lambda _: Room(1, 1))
        self._upload_queue = upload_queue

    async def enforce_limits(self) -> list[Kept]:
        """Remove the files that exceed the limits; return them."""
        room = await asyncio.to_thread(self._room, self._folder)
        known = await self._store.read(files.kept)
        now = self._now()
        gone = expired(known, now, room, self.limits)
        thinned = {kept.chat_id for kept in gone if kept.kind == "step" and kept.chat_id}
        if thinned:
            # Histories are long to read, and few chats have so many pictures.
            needed = await self._store.read(
                lambda session: messages.newest_pictures(session, thinned, HISTORY_PICTURES)
            )
            known = [replace(kept, in_history=kept.id in needed) for kept in known]
            gone = expired(known, now, room, self.limits)
        await self._remove(gone)
        return gone

    async def rebuild(self) -> Rebuilt:
        """Insert rows for described files without one, and delete rows without a file."""
        described = dict(await self._upload_queue.descriptions()) if self._upload_queue else {}
        # Of two descriptions the one on this disk is newer: it was not uploaded yet.
        described |= await asyncio.to_thread(lambda: dict(self._disk.descriptions()))
        elsewhere = await self._upload_queue.ids() if self._upload_queue else set()
        moves = self._upload_queue is not None

        async def restore(session: AsyncSession) -> int:
            made = [
                await files.restore(session, name, text, waits=moves and name not in elsewhere)
                for name, text in described.items()
            ]
            return sum(made)

        restored = await self._store.write(restore)
        packs = await self._upload_queue.packs() if self._upload_queue else set()
        restored += await self._restore_packed(packs)
        known = await self._store.read(files.kept)
        packed = await self._store.read(files.packs)
        elsewhere |= {file_id for file_id, pack in packed.items() if pack in packs}
        elsewhere |= await self._store.read(held_ids)
        lost = [
            kept
            for kept in known
            if kept.id not in elsewhere and not self._disk.path(kept.id).exists()
        ]
        await self._remove(lost)
        return Rebuilt(restored, len(lost))

    async def _restore_packed(self, packs: Collection[str]) -> int:
        """Insert rows for the pictures of packs that no row names; return how many."""
        if self._upload_queue is None:
            return 0
        # Of the other packs, rows that are missing were deleted.
        named = set((await self._store.read(files.packs)).values())
        gone = sorted(named - set(packs))
        await self._store.write(lambda session: files.forget_packs(session, gone))
        restored = 0
        for pack in sorted(set(packs) - named):
            try:
                pictures = await self._upload_queue.packed_pictures(pack)
            except BadPack as error:
                log.warning("the object %s is left as it is: %s", pack, error)
                continue

            async def restore(
                session: AsyncSession, pack: str = pack, pictures: Pictures = pictures
            ) -> int:
                return await files.restore_packed(session, pack, pictures)

            restored += await self._store.write(restore)
            if pack not in (await self._store.read(files.packs)).values():
                # All its pictures are in other packs.
                await self._upload_queue.forget([pack])
        return restored

    async def _remove(self, gone: list[Kept]) -> None:
        if gone:
            # Rows before bytes, as in ``stored_files``: a row without bytes must not exist. A
            # person may have deleted some since the list was read.
            ids = [kept.id for kept in gone]
            removed = await self._store.write(lambda s: files.delete_existing(s, ids))
            # A request that has opened one of them can still read it to its end.
            await asyncio.to_thread(self._unlink, gone)
            if self._upload_queue is not None:
                await self._upload_queue.forget(removed)

    def _unlink(self, gone: list[Kept]) -> None:
        for kept in gone:
            self._disk.delete(kept.id)


def room_of(folder: Path) -> Room:
    """Return the free and the total space of the disk that holds a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    usage = shutil.disk_usage(folder)
    return Room(usage.free, usage.total)
