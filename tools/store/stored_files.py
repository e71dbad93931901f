"""Stored files: bytes on the disk or in the bucket, and their rows in the database.

The bytes and the description are written before the row, and the row is deleted before the bytes. A
crash in between leaves bytes without a row, which cost room, but never a row without bytes.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol

from sqlalchemy import Connection

from deskhand.tools.conversation.views import FileView

from . import files
from .database import Store
from .errors import BytesMissing
from .file_store import FileStore, StoredFile
from .files import FileFacts
from .retention import RetentionLimits, crowded_out
from .upload_queue import UploadQueue


class LaterWrites(Protocol):
    """Writes that are committed with a later one."""

    def add(
        self,
        work: Callable[[Connection], FileView],
        done: Callable[[FileView], None],
        undo: Callable[[], Awaitable[None]],
    ) -> None:
        """Commit ``work`` and call ``done``, or call ``undo`` if that is not possible."""


class StoredFiles:
    """Stores, reads and removes files.

    With an ``upload_queue`` files move to a bucket after some time; readers find them in both
    places.
    """

    def __init__(
        self,
        store: Store,
        disk: FileStore,
        now: Callable[[], float],
        upload_queue: UploadQueue | None = None,
        attachments: int = RetentionLimits.attachments,
    ) -> None:
        self._store = store
        self._disk = disk
        self._now = now
        self._upload_queue = upload_queue
        self._attachments = attachments

    async def get(self, file_id: str) -> FileView:
        """Return the view of a file.

        Raises:
            UnknownRow: If the file does not exist.
        """
        return await self._store.read(lambda session: files.get(session, file_id))

    async def existing(self, file_ids: Sequence[str]) -> dict[str, FileView]:
        """Return the views of those of the files that exist, by their ids."""
        return await self._store.read(lambda session: files.existing(session, file_ids))

    async def pictures(self, chat_id: str) -> tuple[FileView, ...]:
        """Return the pictures that were made of the recordings of a chat."""
        return await self._store.read(lambda session: files.pictures(session, chat_id))

    async def keep_picture(
        self, chat_id: str, data: bytes, name: str, media_type: str, tag: str
    ) -> FileView:
        """Store a picture that was made of the recordings of a chat, under a tag."""
        details = {"tag": tag}
        return await self.save(
            data, FileFacts(chat_id, files.PICTURE, name, media_type, details=details)
        )

    def path(self, file_id: str) -> Path:
        """Return the path of a file's bytes on this disk; they may be in the bucket instead."""
        return self._disk.path(file_id)

    async def stream(self, file_id: str, start: int, end: int) -> AsyncIterator[bytes]:
        """Yield bytes of a file that is not on this disk.

        Raises:
            BytesMissing: If they are not in the bucket either.
            BucketUnavailable: If the bucket does not answer.
        """
        if self._upload_queue is None:
            raise BytesMissing(file_id)
        async for chunk in self._upload_queue.read(file_id, start, end):
            yield chunk

    def incoming(self) -> Path:
        """Return a new path for a file that :meth:`adopt` will take over."""
        return self._disk.incoming()

    async def check_room(self) -> None:
        """Check that something new may be stored, which is not needed to finish what runs.

        Raises:
            DiskLow: If the disk has too little room.
        """
        await self._store.check_room()

    async def sweep(self) -> None:
        """Remove files that a killed program left half downloaded."""
        await asyncio.to_thread(self._disk.sweep)

    async def load(self, file_id: str) -> bytes:
        """Return the bytes of a file.

        Raises:
            FileNotFoundError: If the bytes were removed.
            BucketUnavailable: If the bucket does not answer.
        """
        try:
            # No check whether the file is here: the upload queue may remove it between a check and
            # the read.
            return await asyncio.to_thread(self._disk.load, file_id)
        except FileNotFoundError:
            if self._upload_queue is None:
                raise
        try:
            return await self._upload_queue.load(file_id)
        except BytesMissing as error:
            raise FileNotFoundError(error.name) from error

    async def save(self, data: bytes, facts: FileFacts) -> FileView:
        """Store bytes as a new file."""
        stored = await self._store.retried(lambda: asyncio.to_thread(self._disk.save, data))
        return await self._insert(stored, facts)

    async def save_later(self, data: bytes, facts: FileFacts, writes: LaterWrites) -> str:
        """Store bytes as the picture of a step, whose row ``writes`` commits; return its id."""
        stored = await self._store.retried(lambda: asyncio.to_thread(self._disk.save, data))
        insert = _insertion(stored, facts, self._now())
        writes.add(insert, lambda _: self._wake(), lambda: self.discard([stored.id]))
        return stored.id

    async def adopt(self, source: Path, facts: FileFacts) -> FileView:
        """Store a file of the same file system by moving it."""
        stored = await self._store.retried(lambda: asyncio.to_thread(self._disk.adopt, source))
        return await self._insert(stored, facts)

    async def receive(
        self, write: Callable[[Path], Awaitable[object]], facts: FileFacts
    ) -> FileView:
        """Store the file that ``write`` writes to a given path.

        It is written again while a caller with patience finds the disk full.
        """
        unfinished = await asyncio.to_thread(self.incoming)
        try:
            await self._store.retried(lambda: write(unfinished))
            return await self.adopt(unfinished, facts)
        finally:
            await asyncio.to_thread(unfinished.unlink, missing_ok=True)

    async def pin(self, file_id: str, pinned: bool) -> FileView:
        """Exempt a file from retention, or not any more.

        Raises:
            UnknownRow: If the file does not exist.
        """
        found, description = await self._store.write(lambda s: files.pin(s, file_id, pinned))
        # The description must contain the pin too, or a rebuilding would lose it.
        await asyncio.to_thread(self._disk.describe, file_id, description)
        self._wake()
        return found

    async def delete(self, file_id: str) -> None:
        """Remove a file.

        Raises:
            UnknownRow: If the file does not exist.
        """
        # The row first: a crash in between must not leave a row without bytes.
        await self._store.write(lambda session: files.delete(session, file_id))
        await self.discard([file_id])

    async def make_room(self, chat_id: str, most: int | None = None) -> list[str]:
        """Remove the oldest of a chat's attachments beyond ``most``; return their ids.

        By default as many are kept as a chat may list.
        """
        known = await self._store.read(files.kept)
        listed = [kept for kept in known if kept.kind == "attachment" and kept.chat_id == chat_id]
        listed.sort(key=lambda kept: (kept.created_at, kept.id))
        gone = [
            kept.id for kept in crowded_out(listed, self._attachments if most is None else most)
        ]
        for file_id in gone:
            await self.delete(file_id)
        return gone

    async def discard(self, file_ids: Iterable[str]) -> None:
        """Remove the bytes of files whose rows were deleted."""
        gone = list(file_ids)
        await asyncio.to_thread(self._discard, gone)
        if self._upload_queue is not None and gone:
            await self._upload_queue.forget(gone)

    def _discard(self, file_ids: list[str]) -> None:
        for file_id in file_ids:
            self._disk.delete(file_id)

    async def _insert(self, stored: StoredFile, facts: FileFacts) -> FileView:
        now = self._now()
        try:
            if facts.kind != "step":
                # Pictures of steps are many, and useless without the steps in the database.
                description = files.described(stored, facts, now)
                await self._store.retried(
                    lambda: asyncio.to_thread(self._disk.describe, stored.id, description)
                )
            made = await self._store.write_short(_insertion(stored, facts, now))
        except Exception:
            # Not on CancelledError: the transaction ends nevertheless, so that the row may exist.
            await self.discard([stored.id])
            raise
        self._wake()
        return made

    def _wake(self) -> None:
        if self._upload_queue is not None:
            self._upload_queue.wake()


def _insertion(
    stored: StoredFile, facts: FileFacts, now: float
) -> Callable[[Connection], FileView]:
    def insert(connection: Connection) -> FileView:
        return files.insert_short(connection, stored, facts, now)

    return insert
