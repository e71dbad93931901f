"""Stored files: their bytes on disk and what the database knows of them, kept together."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path

from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.conversation.views import FileView

from . import files
from .database import Store
from .errors import BytesMissing
from .file_store import FileStore, StoredFile
from .files import FileFacts
from .retention import RetentionLimits, crowded_out
from .upload_queue import UploadQueue


class StoredFiles:
    """Writes the bytes first, so that a row never names a file that is not there.

    With an ``outbox`` files do not stay on this disk; who reads them need not know.
    """

    def __init__(
        self,
        store: Store,
        disk: FileStore,
        now: Callable[[], float],
        outbox: UploadQueue | None = None,
    ) -> None:
        self._store = store
        self._disk = disk
        self._now = now
        self._outbox = outbox

    async def get(self, file_id: str) -> FileView:
        """Return what is known of a file.

        Raises:
            UnknownRow: If there is none.
        """
        return await self._store.read(lambda session: files.get(session, file_id))

    def path(self, file_id: str) -> Path:
        """Return where its bytes are if they are on this disk."""
        return self._disk.path(file_id)

    async def stream(self, file_id: str, start: int, end: int) -> AsyncIterator[bytes]:
        """Give bytes of a file that is not on this disk.

        Raises:
            BytesMissing: If they are nowhere.
            BucketUnavailable: If they cannot be had now.
        """
        if self._outbox is None:
            raise BytesMissing(file_id)
        async for chunk in self._outbox.read(file_id, start, end):
            yield chunk

    def incoming(self) -> Path:
        """Return a new name for a file that :meth:`adopt` may take."""
        return self._disk.incoming()

    async def sweep(self) -> None:
        """Remove what a killed program left half fetched."""
        await asyncio.to_thread(self._disk.sweep)

    async def load(self, file_id: str) -> bytes:
        """Return its bytes."""
        try:
            return await asyncio.to_thread(self._disk.load, file_id)
        except FileNotFoundError:
            if self._outbox is None:
                raise
            return await self._outbox.load(file_id)

    async def save(self, data: bytes, about: FileFacts) -> FileView:
        """Store bytes."""
        return await self._know(await asyncio.to_thread(self._disk.save, data), about)

    async def adopt(self, source: Path, about: FileFacts) -> FileView:
        """Take over a file of the same file system."""
        return await self._know(await asyncio.to_thread(self._disk.adopt, source), about)

    async def pin(self, file_id: str, pinned: bool) -> FileView:
        """Keep a file whatever its age and the room, or no more.

        Raises:
            UnknownRow: If there is none.
        """
        found, words = await self._store.write(lambda s: files.pin(s, file_id, pinned))
        await asyncio.to_thread(self._disk.describe, file_id, words)
        self._wake()
        return found

    async def delete(self, file_id: str) -> None:
        """Remove a file.

        Raises:
            UnknownRow: If there is none.
        """
        await self._store.write(lambda session: files.delete(session, file_id))
        await self.discard([file_id])

    async def make_room(self, chat_id: str, most: int = RetentionLimits.attachments) -> list[str]:
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
        gone = list(file_ids)
        await asyncio.to_thread(self._discard, gone)
        if self._outbox is not None and gone:
            await self._outbox.forget(gone)

    def _discard(self, file_ids: list[str]) -> None:
        for file_id in file_ids:
            self._disk.delete(file_id)

    async def _know(self, stored: StoredFile, about: FileFacts) -> FileView:
        now = self._now()

        async def insert(session: AsyncSession) -> FileView:
            return files.view(await files.insert(session, stored, about, now))

        try:
            if about.kind != "step":
                # Steps are many, and without the database nobody would miss their pictures.
                await asyncio.to_thread(
                    self._disk.describe, stored.id, files.described(stored, about, now)
                )
            made = await self._store.write(insert)
        except Exception:
            # Not when we are cancelled: the row may have been written all the same.
            await self.discard([stored.id])
            raise
        self._wake()
        return made

    def _wake(self) -> None:
        if self._outbox is not None:
            self._outbox.wake()
