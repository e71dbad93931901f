"""Stored files: bytes on the disk or in the bucket, and their rows in the database.

The bytes and the description are written before the row, and the row is deleted before the bytes. A
crash in between leaves bytes without a row, which cost room, but never a row without bytes.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol

from sqlalchemy import Connection

from deskhand.tools.conversation.uploaded import FileUpload
from deskhand.tools.conversation.views import FileView

from . import files
from .database import Store
from .errors import BytesElsewhere, BytesMissing
from .file_store import FileStore, StoredFile
from .files import FileFacts, PackPlace
from .retention import RetentionLimits, crowded_out
from .tables.held_pictures import held_bytes, hold
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
    places. With ``plane``, the id of this control plane, others share the database and the bucket:
    until a picture of a step is in the bucket, the database has its bytes for them.
    """

    def __init__(
        self,
        store: Store,
        disk: FileStore,
        now: Callable[[], float],
        upload_queue: UploadQueue | None = None,
        attachments: int = RetentionLimits.attachments,
        plane: str | None = None,
    ) -> None:
        self._store = store
        self._disk = disk
        self._now = now
        self._upload_queue = upload_queue
        self._attachments = attachments
        self._plane = plane

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
            BytesElsewhere: If they wait on the disk of another control plane.
            BytesMissing: If they are not in the bucket either.
            BucketUnavailable: If the bucket does not answer.
        """
        if self._upload_queue is None:
            raise BytesMissing(file_id)
        try:
            async for chunk in self._in_bucket(self._upload_queue, file_id, start, end):
                yield chunk
        except BytesMissing as error:
            found = await self.existing([file_id])
            if any(file.waits for file in found.values()):
                raise BytesElsewhere(file_id) from error
            raise

    async def _in_bucket(
        self, upload_queue: UploadQueue, file_id: str, start: int = 0, end: int | None = None
    ) -> AsyncIterator[bytes]:
        place = await self._place(file_id)
        if place is None:
            if self._plane is not None:
                held = await self._store.read(lambda session: held_bytes(session, file_id))
                if held is not None:
                    yield held[start:end]
                    return
            try:
                async for chunk in upload_queue.read(file_id, start, end):
                    yield chunk
                return
            except BytesMissing:
                # It may have been packed meanwhile.
                place = await self._place(file_id)
                if place is None:
                    raise
        stop = place.size if end is None else min(end, place.size)
        # The service refuses the range of a picture without bytes.
        if start < stop:
            span = place.start + start, place.start + stop
            async for chunk in upload_queue.read(place.pack, *span):
                yield chunk

    async def _place(self, file_id: str) -> PackPlace | None:
        return await self._store.read(lambda session: files.place(session, file_id))

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
            chunks = [chunk async for chunk in self._in_bucket(self._upload_queue, file_id)]
            return b"".join(chunks)
        except BytesMissing as error:
            raise FileNotFoundError(error.name) from error

    async def save(self, data: bytes, facts: FileFacts) -> FileView:
        """Store bytes as a new file."""
        stored = await self._store.retried(lambda: asyncio.to_thread(self._disk.save, data))
        return await self._insert(stored, facts, data)

    async def save_later(self, data: bytes, facts: FileFacts, writes: LaterWrites) -> str:
        """Store bytes as the picture of a step, whose row ``writes`` commits; return its id."""
        stored = await self._store.retried(lambda: asyncio.to_thread(self._disk.save, data))
        insert = self._insertion(stored, facts, self._now(), data)
        writes.add(insert, lambda _: self._wake_for_picture(), lambda: self.discard([stored.id]))
        return stored.id

    async def adopt(self, source: Path, facts: FileFacts) -> FileView:
        """Store a file of the same file system by moving it."""
        stored = await self._store.retried(lambda: asyncio.to_thread(self._disk.adopt, source))
        return await self._insert(stored, facts)

    async def receive(
        self,
        write: Callable[[Path], Awaitable[object]],
        facts: FileFacts,
        upload: FileUpload | None = None,
    ) -> FileView:
        """Store the file that ``write`` writes to a given path.

        It is written again while a caller with patience finds the disk full. It is not written if
        there is a bucket, and ``upload`` puts the file there.
        """
        if upload is not None and self._upload_queue is not None:
            now = self._now()
            taken = await self._upload_queue.take(upload, lambda s: files.described(s, facts, now))
            if taken is not None:
                return await self._insert_row(taken, facts, now)
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
        await self.discard(await self._store.write(lambda s: files.delete(s, file_id)))

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
        """Remove the bytes of files whose rows were deleted, and packs that no row names."""
        gone = list(file_ids)
        await asyncio.to_thread(self._discard, gone)
        if self._upload_queue is not None and gone:
            await self._upload_queue.forget(gone)

    def _discard(self, file_ids: list[str]) -> None:
        for file_id in file_ids:
            self._disk.delete(file_id)

    def pack_soon(self) -> None:
        """Pack the pictures of turns that have ended, or were taken over, at once."""
        if self._upload_queue is not None and self._upload_queue.packs_pictures:
            self._upload_queue.wake()

    async def _insert(
        self, stored: StoredFile, facts: FileFacts, data: bytes | None = None
    ) -> FileView:
        now = self._now()
        try:
            if facts.kind != "step":
                # Pictures of steps are many, and useless without the steps in the database.
                description = files.described(stored, facts, now)
                await self._store.retried(
                    lambda: asyncio.to_thread(self._disk.describe, stored.id, description)
                )
        except Exception:
            await self.discard([stored.id])
            raise
        made = await self._insert_row(stored, facts, now, data)
        self._wake()
        return made

    async def _insert_row(
        self, stored: StoredFile, facts: FileFacts, now: float, data: bytes | None = None
    ) -> FileView:
        try:
            return await self._store.write_short(self._insertion(stored, facts, now, data))
        except Exception:
            # Not on CancelledError: the transaction ends nevertheless, so that the row may exist.
            await self.discard([stored.id])
            raise

    def _wake_for_picture(self) -> None:
        # One that waits to be packed is found by the next scan in any case.
        if self._upload_queue is not None and not self._upload_queue.packs_pictures:
            self._upload_queue.wake()

    def _wake(self) -> None:
        if self._upload_queue is not None:
            self._upload_queue.wake()

    def _insertion(
        self, stored: StoredFile, facts: FileFacts, now: float, data: bytes | None
    ) -> Callable[[Connection], FileView]:
        plane = self._plane if facts.kind == "step" else None

        def insert(connection: Connection) -> FileView:
            made = files.insert_short(connection, stored, facts, now)
            if plane is not None and data is not None:
                hold(connection, stored.id, plane, data)
            return made

        return insert
