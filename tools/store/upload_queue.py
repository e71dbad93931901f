"""Queue of uploads: moves stored files from this disk into an object store in the background.

- A file is stored on this disk first, and served from here until it is removed. Only a request for
  a file that is in the object store alone depends on that service.
- The queue is the disk itself: every file found there is uploaded, unless this process has uploaded
  the version with these times already. A restart uploads again what is left, which is harmless.
- The description is uploaded after the bytes: where it exists, the bytes do too.
- The row of a file says that it waits until both are in the object store: other control planes on
  the same database read it there.
- A copy on this disk stays for a while after its upload, as it may be being read.
- With ``pictures``, the rows of pictures of steps, these do not move singly but in packs
  (:mod:`~.packs.holding` says when). They are the files without a description.
- A file of another host may come to the object store without this disk, see ``take``: its bytes,
  its description, and then its row, in this order.
- Removals are recorded in files before they are carried out, so that a removal while the service is
  away, or before a restart, is not lost.
"""

import asyncio
import logging
import time
import uuid
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Sequence,
)
from pathlib import Path
from typing import NamedTuple, Protocol

from deskhand.tools.conversation.uploaded import FileUpload

from .errors import StoreError
from .file_store import FileStore, Stamps, StoredFile
from .packs.pack import SUFFIX, PackedPicture, object_name
from .packs.packer import UNKNOWN_SECONDS, PicturePacker, PictureRows, read_index

log = logging.getLogger(__name__)

LINGER_SECONDS = 60.0
"""Time for which an uploaded file stays on this disk."""

RECORD_SECONDS = 10.0
"""Time between two writes of rows: pictures of steps come every second or so."""

FINISH_SECONDS = 3.0
"""Time that :meth:`UploadQueue.finish` takes at most; a control plane ends within ten seconds."""

INTERVAL_SECONDS = 30.0
"""Time between two scans of the disk, and so until the next attempt after a failure."""


class ObjectStore(Protocol):
    """Port to the service that stores the files; ``Bucket`` implements it."""

    async def put(self, name: str, source: Path) -> None:
        """Upload a file under a name, replacing the object of that name."""

    async def put_whole(self, name: str, source: Path) -> None:
        """Upload a file by one request, however long it is."""

    async def put_bytes(self, name: str, data: bytes) -> None:
        """Store bytes under a name."""

    async def put_url(self, name: str) -> str:
        """Return an address to which a program without keys can put one object for a while."""

    async def size(self, name: str) -> int | None:
        """Return the bytes of an object; None if there is none."""

    def read(self, name: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Yield the bytes from ``start`` up to, and without, ``end``."""

    async def delete(self, names: Sequence[str]) -> None:
        """Remove the objects of these names."""

    async def names(self) -> list[str]:
        """Return the names of all objects."""


class _Sent(NamedTuple):
    stamps: Stamps
    until: float
    """Time from which the copy on this disk may be removed, on the loop's clock."""
    known: bool
    """Whether its row does not say any more that the file waits."""


class UploadQueue:
    """Moves files into an object store; the owner runs ``run`` as a task.

    ``uploaded`` writes that files are there, and returns the ids of those that have a row. ``now``
    is the clock of the rows in ``pictures``.
    """

    def __init__(
        self,
        disk: FileStore,
        object_store: ObjectStore,
        *,
        linger: float = LINGER_SECONDS,
        interval: float = INTERVAL_SECONDS,
        uploaded: Callable[[Sequence[str]], Awaitable[frozenset[str]]] | None = None,
        record_seconds: float = RECORD_SECONDS,
        pictures: PictureRows | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._disk = disk
        self._object_store = object_store
        self._linger = linger
        self._interval = interval
        self._uploaded = uploaded
        self._record_seconds = record_seconds
        self._recorded_at = -record_seconds
        self._sent: dict[str, _Sent] = {}
        self._packer = (
            None if pictures is None else PicturePacker(disk, object_store, pictures, now)
        )
        self._wake_event = asyncio.Event()
        self._fails = False
        """True if the last scan has found the object store away."""

    @property
    def packs_pictures(self) -> bool:
        """True if pictures of steps wait for others: a scan for one of them is of no use."""
        return self._packer is not None

    async def run(self) -> None:
        """Upload files as they come, until cancelled."""
        while True:
            # Before the scan: a file that is stored during the scan starts another one.
            self._wake_event.clear()
            try:
                await self.move()
                self._fails = False
            except (StoreError, OSError) as error:
                self._fails = True
                log.warning("stored files wait on this disk: %s", error)
            try:
                async with asyncio.timeout(self._interval):
                    await self._wake_event.wait()
            except TimeoutError:
                continue

    async def move(self) -> None:
        """Scan the disk once: upload what is new, and remove copies after their time.

        Raises:
            BucketUnavailable: At the first file that the object store does not accept.
            StoreUnavailable: If the database cannot be written.
        """
        # Before the uploads, of which the first that fails ends the scan.
        await self._remove_queued()
        found = dict(await asyncio.to_thread(lambda: list(self._disk.stamps())))
        try:
            for file_id, stamps in found.items():
                if stamps[1] is not None:
                    await self._send_changed(file_id, stamps)
            if self._packer is not None:
                await self._pack(self._packer, found)
            for file_id, stamps in found.items():
                if self._packer is None or not self._packer.holds(file_id):
                    await self._send_changed(file_id, stamps)
        finally:
            await self._record()
            await self._drop(found.items())

    async def finish(self) -> None:
        """Move the pictures that are held, as this program ends; not for long.

        What cannot be moved is moved after the next start. Nothing is moved if other control planes
        can do it: those that continue the turns make one pack of these pictures and their own.
        """
        if self._packer is None or not self._packer.is_alone:
            return
        found = dict(await asyncio.to_thread(lambda: list(self._disk.stamps())))
        try:
            async with asyncio.timeout(FINISH_SECONDS):
                await self._pack(self._packer, found, held_too=True)
        except (StoreError, OSError, TimeoutError) as error:
            log.warning("pictures of steps wait on this disk: %s", error)

    def wake(self) -> None:
        """Start the next scan at once."""
        self._wake_event.set()

    async def take(
        self, upload: FileUpload, describe: Callable[[StoredFile], str]
    ) -> StoredFile | None:
        """Let another host put a new file into the object store, and describe it there.

        Return None if this has failed. Then no object has a description: each that is there already
        is removed, but for one that the other host completes later.
        """
        if self._fails:
            return None
        file_id = str(uuid.uuid4())
        taken: StoredFile | None = None
        try:
            taken = await self._take(file_id, upload, describe)
        except StoreError as error:
            log.info("a file does not come to the bucket directly: %s", error)
        finally:
            if taken is None:
                await self.forget([file_id])
        return taken

    async def _take(
        self, file_id: str, upload: FileUpload, describe: Callable[[StoredFile], str]
    ) -> StoredFile | None:
        name = object_name(file_id)
        sent = await upload(await self._object_store.put_url(name))
        if sent is None:
            return None
        size = await self._object_store.size(name)
        if size != sent.size:
            log.warning("%s has %s bytes in the bucket instead of %d", name, size, sent.size)
            return None
        stored = StoredFile(file_id, sent.size, sent.sha256)
        await self._object_store.put_bytes(f"{name}.json", describe(stored).encode())
        return stored

    async def forget(self, file_ids: Iterable[str]) -> None:
        """Remove files from the object store, as soon as it can be reached."""
        await asyncio.to_thread(self._disk.queue_removal, list(file_ids))
        self.wake()

    def read(self, file_id: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Yield bytes of a file in the object store.

        Raises:
            BytesMissing: If the file is not there.
            BucketUnavailable: If the object store cannot be reached.
        """
        return self._object_store.read(object_name(file_id), start, end)

    async def ids(self) -> set[str]:
        """Return the ids of the files in the object store."""
        queued_removals = set(await asyncio.to_thread(self._disk.queued_removals))
        names = {name.rpartition("/")[2] for name in await self._object_store.names()}
        # Objects whose removal is queued exist still, but are no files any more.
        files = {name for name in names if not name.endswith((".json", SUFFIX))}
        return files - queued_removals

    async def descriptions(self) -> list[tuple[str, str]]:
        """Return ids and descriptions of all described files in the object store."""
        found = []
        names = {name.rpartition("/")[2] for name in await self._object_store.names()}
        for file_id in sorted(await self.ids()):
            if f"{file_id}.json" in names:
                description = [
                    part async for part in self._object_store.read(f"{object_name(file_id)}.json")
                ]
                found.append((file_id, b"".join(description).decode()))
        return found

    async def packs(self) -> set[str]:
        """Return the ids of the packs in the object store."""
        queued_removals = set(await asyncio.to_thread(self._disk.queued_removals))
        names = {name.rpartition("/")[2] for name in await self._object_store.names()}
        return {name for name in names if name.endswith(SUFFIX)} - queued_removals

    async def packed_pictures(self, pack: str) -> tuple[PackedPicture, ...]:
        """Return the pictures of a pack; raise ``BadPack`` if it is none, and as :meth:`read`."""
        return await read_index(self._object_store, pack)

    async def _pack(
        self, packer: PicturePacker, found: dict[str, Stamps], *, held_too: bool = False
    ) -> None:
        """Pack what is due; add to ``found`` what comes to this disk for that."""

        def done(file_ids: Collection[str]) -> None:
            until = asyncio.get_running_loop().time() + self._linger
            for file_id in file_ids:
                if file_id in found:
                    self._sent[file_id] = _Sent(found[file_id], until, known=True)

        if await packer.adopt(found):
            found.update(await asyncio.to_thread(lambda: list(self._disk.stamps())))
        # Those without a description are pictures of steps, apart from a few of older versions.
        waiting = [
            file_id
            for file_id, stamps in found.items()
            if stamps[1] is None and file_id not in self._sent
        ]
        await packer.move(waiting, done, held_too=held_too)

    async def _send_changed(self, file_id: str, stamps: Stamps) -> None:
        sent = self._sent.get(file_id)
        if sent is None or sent.stamps != stamps:
            await self._send(file_id, stamps, sent.stamps if sent else (None, None))
            until = asyncio.get_running_loop().time() + self._linger
            known = self._uploaded is None or (sent is not None and sent.known)
            self._sent[file_id] = _Sent(stamps, until, known)

    async def _drop(self, found: Iterable[tuple[str, Stamps]]) -> None:
        """Remove the copies whose time is over."""
        now = asyncio.get_running_loop().time()
        for file_id, stamps in found:
            sent = self._sent.get(file_id)
            if sent is None or sent.stamps != stamps:
                continue
            until = sent.until if sent.known else sent.until + UNKNOWN_SECONDS
            if until <= now and await asyncio.to_thread(self._disk.drop, file_id, stamps):
                del self._sent[file_id]

    async def _record(self) -> None:
        """Write which files have been uploaded since the last time, together."""
        now = asyncio.get_running_loop().time()
        ids = [file_id for file_id, sent in self._sent.items() if not sent.known]
        if self._uploaded is None or not ids or now < self._recorded_at + self._record_seconds:
            return
        for file_id in await self._uploaded(ids):
            self._sent[file_id] = self._sent[file_id]._replace(known=True)
        self._recorded_at = now

    async def _send(self, file_id: str, stamps: Stamps, sent: Stamps) -> None:
        # The bytes first: where a description exists, the bytes must exist too.
        paths = (self._disk.path(file_id), self._disk.description_path(file_id))
        for path, stamp, before in zip(paths, stamps, sent, strict=True):
            # ``pin`` changes the description only: the bytes are not uploaded a second time.
            if stamp not in (None, before):
                try:
                    suffix = path.name.removeprefix(file_id)
                    await self._object_store.put(object_name(file_id) + suffix, path)
                except FileNotFoundError:
                    log.debug("%s was removed before it was moved", path)

    async def _remove_queued(self) -> None:
        queued_removals = await asyncio.to_thread(self._disk.queued_removals)
        if queued_removals:
            names = map(object_name, queued_removals)
            both = [both for name in names for both in (name, f"{name}.json")]
            await self._object_store.delete(both)
            # Last: after a failure above, the next scan finds the records and tries again.
            await asyncio.to_thread(self._disk.finish_removal, queued_removals)
            for file_id in queued_removals:
                self._sent.pop(file_id, None)
