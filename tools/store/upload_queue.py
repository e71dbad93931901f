"""Queue of uploads: moves stored files from this disk into an object store in the background.

- A file is stored on this disk first, and served from here until it is removed. Only a request for
  a file that is in the object store alone depends on that service.
- The queue is the disk itself: every file found there is uploaded, unless this process has uploaded
  the version with these times already. A restart uploads again what is left, which is harmless.
- The description is uploaded after the bytes: where it exists, the bytes do too.
- A copy on this disk stays for a while after its upload, as it may be being read.
- Removals are recorded in files before they are carried out, so that a removal while the service is
  away, or before a restart, is not lost.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from .errors import StoreError
from .file_store import FileStore, Stamps

log = logging.getLogger(__name__)

LINGER_SECONDS = 60.0
"""Time for which an uploaded file stays on this disk."""

INTERVAL_SECONDS = 30.0
"""Time between two scans of the disk, and so until the next attempt after a failure."""


class ObjectStore(Protocol):
    """Port to the service that stores the files; ``Bucket`` implements it."""

    async def put(self, name: str, source: Path) -> None:
        """Upload a file under a name, replacing the object of that name."""

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


class UploadQueue:
    """Moves files into an object store; the owner runs ``run`` as a task."""

    def __init__(
        self,
        disk: FileStore,
        object_store: ObjectStore,
        *,
        linger: float = LINGER_SECONDS,
        interval: float = INTERVAL_SECONDS,
    ) -> None:
        self._disk = disk
        self._object_store = object_store
        self._linger = linger
        self._interval = interval
        self._sent: dict[str, _Sent] = {}
        self._wake_event = asyncio.Event()

    async def run(self) -> None:
        """Upload files as they come, until cancelled."""
        while True:
            # Before the scan: a file that is stored during the scan starts another one.
            self._wake_event.clear()
            try:
                await self.move()
            except (StoreError, OSError) as error:
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
        """
        # Before the uploads, of which the first that fails ends the scan.
        await self._remove_queued()
        now = asyncio.get_running_loop().time()
        for file_id, stamps in await asyncio.to_thread(lambda: list(self._disk.stamps())):
            sent = self._sent.get(file_id)
            if sent is None or sent.stamps != stamps:
                await self._send(file_id, stamps, sent.stamps if sent else (None, None))
                self._sent[file_id] = sent = _Sent(stamps, now + self._linger)
            if sent.until <= now and await asyncio.to_thread(self._disk.drop, file_id, stamps):
                del self._sent[file_id]

    def wake(self) -> None:
        """Start the next scan at once."""
        self._wake_event.set()

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
        return self._object_store.read(_name(file_id), start, end)

    async def load(self, file_id: str) -> bytes:
        """Return all bytes of a file; raise the same as :meth:`read`."""
        return b"".join([chunk async for chunk in self.read(file_id)])

    async def ids(self) -> set[str]:
        """Return the ids of the files in the object store."""
        queued_removals = set(await asyncio.to_thread(self._disk.queued_removals))
        names = {name.rpartition("/")[2] for name in await self._object_store.names()}
        # Objects whose removal is queued exist still, but are no files any more.
        return {name for name in names if not name.endswith(".json")} - queued_removals

    async def descriptions(self) -> list[tuple[str, str]]:
        """Return ids and descriptions of all described files in the object store."""
        found = []
        names = {name.rpartition("/")[2] for name in await self._object_store.names()}
        for file_id in sorted(await self.ids()):
            if f"{file_id}.json" in names:
                description = [
                    part async for part in self._object_store.read(f"{_name(file_id)}.json")
                ]
                found.append((file_id, b"".join(description).decode()))
        return found

    async def _send(self, file_id: str, stamps: Stamps, sent: Stamps) -> None:
        # The bytes first: where a description exists, the bytes must exist too.
        paths = (self._disk.path(file_id), self._disk.description_path(file_id))
        for path, stamp, before in zip(paths, stamps, sent, strict=True):
            # ``pin`` changes the description only: the bytes are not uploaded a second time.
            if stamp not in (None, before):
                try:
                    suffix = path.name.removeprefix(file_id)
                    await self._object_store.put(_name(file_id) + suffix, path)
                except FileNotFoundError:
                    log.debug("%s was removed before it was moved", path)

    async def _remove_queued(self) -> None:
        queued_removals = await asyncio.to_thread(self._disk.queued_removals)
        if queued_removals:
            both = [name for one in queued_removals for name in (_name(one), f"{_name(one)}.json")]
            await self._object_store.delete(both)
            # Last: after a failure above, the next scan finds the records and tries again.
            await asyncio.to_thread(self._disk.finish_removal, queued_removals)
            for file_id in queued_removals:
                self._sent.pop(file_id, None)


def _name(file_id: str) -> str:
    return f"{file_id[:2]}/{file_id}"
