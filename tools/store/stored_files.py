"""Stored files: their bytes on disk and what the database knows of them, kept together."""

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path

from sqlalchemy.ext.asyncio import AsyncSession

from tools.agents.views import FileView

from . import files
from .database import Store
from .file_store import FileStore, Stored
from .files import About
from .retention import Limits, crowded_out


class StoredFiles:
    """Writes the bytes first, so that a row never names a file that is not there."""

    def __init__(self, store: Store, disk: FileStore, now: Callable[[], float]) -> None:
        self._store = store
        self._disk = disk
        self._now = now

    async def get(self, file_id: str) -> FileView:
        """Return what is known of a file.

        Raises:
            UnknownRow: If there is none.
        """
        return await self._store.read(lambda session: files.get(session, file_id))

    def path(self, file_id: str) -> Path:
        """Return where its bytes are."""
        return self._disk.path(file_id)

    def incoming(self) -> Path:
        """Return a new name for a file that :meth:`adopt` may take."""
        return self._disk.incoming()

    async def sweep(self) -> None:
        """Remove what a killed program left half fetched."""
        await asyncio.to_thread(self._disk.sweep)

    async def load(self, file_id: str) -> bytes:
        """Return its bytes."""
        return await asyncio.to_thread(self._disk.load, file_id)

    async def save(self, data: bytes, about: About) -> FileView:
        """Store bytes."""
        return await self._know(await asyncio.to_thread(self._disk.save, data), about)

    async def adopt(self, source: Path, about: About) -> FileView:
        """Take over a file of the same file system."""
        return await self._know(await asyncio.to_thread(self._disk.adopt, source), about)

    async def delete(self, file_id: str) -> None:
        """Remove a file.

        Raises:
            UnknownRow: If there is none.
        """
        await self._store.write(lambda session: files.delete(session, file_id))
        await self.discard([file_id])

    async def make_room(self, chat_id: str, most: int = Limits.attachments) -> list[str]:
        """Remove the oldest attachments of a chat that lists more than ``most``; their ids."""
        known = await self._store.read(files.kept)
        listed = [kept for kept in known if kept.kind == "attachment" and kept.chat_id == chat_id]
        listed.sort(key=lambda kept: (kept.created_at, kept.id))
        gone = [kept.id for kept in crowded_out(listed, most)]
        for file_id in gone:
            await self.delete(file_id)
        return gone

    async def discard(self, file_ids: Iterable[str]) -> None:
        """Remove the bytes of files that the database has forgotten."""
        await asyncio.to_thread(self._discard, list(file_ids))

    def _discard(self, file_ids: list[str]) -> None:
        for file_id in file_ids:
            self._disk.delete(file_id)

    async def _know(self, stored: Stored, about: About) -> FileView:
        now = self._now()

        async def insert(session: AsyncSession) -> FileView:
            return files.view(await files.insert(session, stored, about, now))

        try:
            if about.kind != "step":
                # Steps are many, and without the database nobody would miss their pictures.
                await asyncio.to_thread(
                    self._disk.describe, stored.id, files.described(stored, about, now)
                )
            return await self._store.write(insert)
        except Exception:
            # Not when we are cancelled: the row may have been written all the same.
            await self.discard([stored.id])
            raise
