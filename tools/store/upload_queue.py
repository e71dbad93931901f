"""Stored files on their way into a bucket, and what is there already.

A file is whole on this disk before anybody hears of it; later it moves into the bucket. While the
bucket cannot be reached files stay here and are served from here: nobody waits for the bucket but
who asks for a file that is nowhere else.
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
"""So long a file stays on this disk when it is in the bucket: it may be read just now."""

PATIENCE_SECONDS = 30.0
"""Between two looks, and so also until the next try when the bucket could not be reached."""


class ObjectStore(Protocol):
    """Where files go; ``deskhand.tools.store.bucket.Bucket`` outside of tests."""

    async def put(self, name: str, source: Path) -> None:
        """Store a file under that name, in place of what is there."""

    def read(self, name: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Give some of the bytes."""

    async def delete(self, names: Sequence[str]) -> None:
        """Remove what has these names."""

    async def names(self) -> list[str]:
        """All names that there are."""


class _Sent(NamedTuple):
    stamps: Stamps
    until: float
    """When its copy on this disk may go, on the loop's clock."""


class UploadQueue:
    """Moves files into a depot; ``run`` is a task that somebody owns."""

    def __init__(
        self,
        disk: FileStore,
        depot: ObjectStore,
        *,
        linger: float = LINGER_SECONDS,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        self._disk = disk
        self._depot = depot
        self._linger = linger
        self._patience = patience
        self._sent: dict[str, _Sent] = {}
        self._news = asyncio.Event()

    async def run(self) -> None:
        """Move what is there and what comes, until cancelled."""
        while True:
            self._news.clear()
            try:
                await self.move()
            except (StoreError, OSError) as error:
                log.warning("stored files wait on this disk: %s", error)
            try:
                async with asyncio.timeout(self._patience):
                    await self._news.wait()
            except TimeoutError:
                continue

    async def move(self) -> None:
        """Send once what has not been sent, and drop what has been here long enough.

        Raises:
            BucketUnavailable: At the first file that the depot does not take.
        """
        await self._carry_out_removals()
        now = asyncio.get_running_loop().time()
        for file_id, stamps in await asyncio.to_thread(lambda: list(self._disk.stamps())):
            sent = self._sent.get(file_id)
            if sent is None or sent.stamps != stamps:
                await self._send(file_id, stamps, sent.stamps if sent else (None, None))
                self._sent[file_id] = sent = _Sent(stamps, now + self._linger)
            if sent.until <= now and await asyncio.to_thread(self._disk.drop, file_id, stamps):
                del self._sent[file_id]

    def wake(self) -> None:
        """Say that there is something to move."""
        self._news.set()

    async def forget(self, file_ids: Iterable[str]) -> None:
        """Remove files from the depot too, as soon as it can be reached."""
        await asyncio.to_thread(self._disk.condemn, list(file_ids))
        self.wake()

    def read(self, file_id: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Give bytes of a file that is in the depot.

        Raises:
            BytesMissing: If it is not there.
            BucketUnavailable: If the depot cannot be reached.
        """
        return self._depot.read(_name(file_id), start, end)

    async def load(self, file_id: str) -> bytes:
        """Return all bytes of a file; raises as :meth:`read` does."""
        return b"".join([chunk async for chunk in self.read(file_id)])

    async def ids(self) -> set[str]:
        """Which files are in the depot."""
        condemned = set(await asyncio.to_thread(self._disk.condemned))
        names = {name.rpartition("/")[2] for name in await self._depot.names()}
        return {name for name in names if not name.endswith(".json")} - condemned

    async def descriptions(self) -> list[tuple[str, str]]:
        """Ids and words of all described files in the depot."""
        found = []
        names = {name.rpartition("/")[2] for name in await self._depot.names()}
        for file_id in sorted(await self.ids()):
            if f"{file_id}.json" in names:
                words = [part async for part in self._depot.read(f"{_name(file_id)}.json")]
                found.append((file_id, b"".join(words).decode()))
        return found

    async def _send(self, file_id: str, stamps: Stamps, sent: Stamps) -> None:
        # The words last: where they are, the bytes are too.
        paths = (self._disk.path(file_id), self._disk.words(file_id))
        for path, stamp, before in zip(paths, stamps, sent, strict=True):
            if stamp not in (None, before):
                try:
                    suffix = path.name.removeprefix(file_id)
                    await self._depot.put(_name(file_id) + suffix, path)
                except FileNotFoundError:
                    log.debug("%s was removed before it was moved", path)

    async def _carry_out_removals(self) -> None:
        condemned = await asyncio.to_thread(self._disk.condemned)
        if condemned:
            both = [name for one in condemned for name in (_name(one), f"{_name(one)}.json")]
            await self._depot.delete(both)
            await asyncio.to_thread(self._disk.acquit, condemned)
            for file_id in condemned:
                self._sent.pop(file_id, None)


def _name(file_id: str) -> str:
    return f"{file_id[:2]}/{file_id}"
