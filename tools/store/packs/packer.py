"""Packing: pictures of steps on this disk become packs, and packs move to the object store.

A pack is a file on this disk, under the name that its object will have, until the rows of its
pictures name it. Whatever ends this process in between, the next one uploads the same pack under
the same name again and writes the same rows: nothing is lost, and no picture is stored twice.
Only one such file exists while the object store does not answer, so that pictures that wait take
little more room than their own.

Where control planes share a database, the rows of held pictures contain their bytes, and name the
one that packs them. It is the one that has stored them, until it has ended or another one drives
their chat: that one writes them to its disk (`PicturePacker.adopt`). Should both pack a picture,
because one was stopped meanwhile, the first pack that is written counts.
"""

import asyncio
import logging
import uuid
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from deskhand.tools.store.errors import BadPack

from .holding import HeldPicture, Holding
from .pack import (
    HEADER_BYTES,
    SUFFIX,
    PackedPicture,
    head,
    index_bytes,
    object_name,
    pictures_of,
)

log = logging.getLogger(__name__)

UNKNOWN_SECONDS = 3600.0
"""Time for which a file without a row is held. A step is stored after its picture, and waits while
there is no database."""


@dataclass(frozen=True)
class FoundFiles:
    """Those of some files that have rows."""

    pictures: Sequence[HeldPicture]
    """Pictures of steps in no pack."""
    packed: Sequence[str]
    """Ids of pictures that are in a pack."""
    others: Sequence[str]
    """Ids of the rest."""
    foreign: Sequence[str] = ()
    """Ids of pictures that another control plane packs."""


class PictureRows(Protocol):
    """Port to the rows of pictures of steps."""

    @property
    def have_bytes(self) -> bool:
        """True if they contain the bytes too, so that another control plane can pack these."""

    async def find(self, file_ids: Collection[str]) -> FoundFiles:
        """Return those of the files that have rows."""

    async def running(self, chat_ids: Collection[str]) -> Mapping[str, int]:
        """Return the numbers of the turns at work, by chat."""

    async def packs_of_turns(self, chat_ids: Collection[str]) -> Mapping[str, int]:
        """Return the number of packs that each chat's turn at work has, by chat."""

    async def descriptions(self, file_ids: Collection[str]) -> Mapping[str, str]:
        """Return the descriptions of those pictures that are still to be packed here, by id."""

    async def adopt(self) -> Collection[str]:
        """Take over what others have left; return all pictures with bytes that are packed here."""

    async def held_bytes(self, file_id: str) -> bytes | None:
        """Return the bytes of a held picture; ``None`` if there are none any more."""

    async def packed(self, pack: str, pictures: Sequence[PackedPicture]) -> bool:
        """Write that the object store has a pack; return whether a row names the pack now."""


class PackDisk(Protocol):
    """Port to the files on this disk."""

    def restore(self, file_id: str, data: bytes) -> None:
        """Store the bytes of a file that has a row, unless they are here."""

    def write_pack(
        self,
        pack: str,
        head_of: Callable[[Sequence[tuple[str, int]]], bytes],
        file_ids: Sequence[str],
    ) -> bool:
        """Write a pack of those files that are here; return whether there is one."""

    def packs(self) -> list[str]:
        """Return the packs that are here."""

    def pack_path(self, pack: str) -> Path:
        """Return the path of a pack."""

    def remove_pack(self, pack: str) -> None:
        """Remove a pack."""

    def delete(self, file_id: str) -> None:
        """Remove a file."""

    def queue_removal(self, file_ids: Sequence[str]) -> None:
        """Record that objects must be removed."""


class PackReader(Protocol):
    """Port to the service that stores packs, for reading."""

    def read(self, name: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Yield the bytes from ``start`` up to, and without, ``end``."""


class PackStore(PackReader, Protocol):
    """Port to the service that stores packs."""

    async def put_whole(self, name: str, source: Path) -> None:
        """Upload a file under a name by one request."""


class PicturePacker:
    """Makes packs of the pictures on this disk, and moves them.

    ``now`` is the clock of the rows.
    """

    def __init__(
        self, disk: PackDisk, object_store: PackStore, rows: PictureRows, now: Callable[[], float]
    ) -> None:
        self._disk = disk
        self._object_store = object_store
        self._rows = rows
        self._now = now
        self._holding = Holding()
        self._held: dict[str, HeldPicture] = {}
        self._others: set[str] = set()
        self._unknown: dict[str, float] = {}
        """Files without rows, and when each was found first."""
        self._foreign: frozenset[str] = frozenset()
        """Pictures that another control plane packs; one that was adopted is looked up again."""
        self._uploaded: set[str] = set()
        """Packs whose rows could not be written yet."""

    @property
    def is_alone(self) -> bool:
        """True if no other control plane can pack the pictures on this disk."""
        return not self._rows.have_bytes

    def holds(self, file_id: str) -> bool:
        """Return True if a file must not be moved singly."""
        if file_id in self._held or file_id in self._foreign:
            return True
        since = self._unknown.get(file_id)
        return since is not None and self._now() < since + UNKNOWN_SECONDS

    async def adopt(self, here: Collection[str]) -> bool:
        """Write pictures to this disk that are to be packed here; return whether there were any.

        ``here`` are the files on this disk.

        Raises:
            StoreUnavailable: If the database cannot be used.
        """
        missing = sorted(set(await self._rows.adopt()) - set(here))
        for file_id in missing:
            data = await self._rows.held_bytes(file_id)
            if data is not None:
                await asyncio.to_thread(self._disk.restore, file_id, data)
        return bool(missing)

    async def move(
        self, file_ids: Collection[str], done: Callable[[Collection[str]], None], *, held_too: bool
    ) -> None:
        """Move the packs that are due, of files without descriptions that are on this disk.

        ``done`` takes the ids of pictures that the object store has, and whose rows say so. With
        ``held_too`` no picture is held back.

        Raises:
            BucketUnavailable: If the object store does not accept a pack.
            StoreUnavailable: If the database cannot be used.
        """
        await self._find(file_ids, done)
        chats = {picture.chat_id for picture in self._held.values()}
        running = {} if held_too or not chats else await self._rows.running(chats)
        if uncounted := self._holding.uncounted(running):
            self._holding.count(await self._rows.packs_of_turns(uncounted), running)
        for pack in await asyncio.to_thread(self._disk.packs):
            await self._send(pack, running, done)
        for pictures in self._holding.due(self._held.values(), running, self._now()):
            pack = f"{uuid.uuid4()}{SUFFIX}"
            if await self._write(pack, [picture.id for picture in pictures]):
                await self._send(pack, running, done)

    async def _find(
        self, file_ids: Collection[str], done: Callable[[Collection[str]], None]
    ) -> None:
        """Learn of new files, and forget those that were removed."""
        here = set(file_ids)
        self._held = {key: held for key, held in self._held.items() if key in here}
        self._others &= here
        new = here - self._held.keys() - self._others
        found = await self._rows.find(sorted(new)) if new else FoundFiles((), (), ())
        self._held |= {picture.id: picture for picture in found.pictures}
        self._others |= set(found.others)
        self._foreign = frozenset(found.foreign)
        unknown = new - self._held.keys() - self._others - self._foreign - set(found.packed)
        self._unknown = {key: self._unknown.get(key, self._now()) for key in unknown}
        done(found.packed)

    async def _write(self, pack: str, file_ids: Sequence[str]) -> bool:
        described = await self._rows.descriptions(file_ids)

        def head_of(sizes: Sequence[tuple[str, int]]) -> bytes:
            return head([(file_id, size, described[file_id]) for file_id, size in sizes])

        known = [file_id for file_id in file_ids if file_id in described]
        for file_id in set(file_ids) - described.keys():
            # Another control plane has deleted the row, and has no way to this disk; or it packs
            # the picture, and reads its bytes in the row.
            await asyncio.to_thread(self._disk.delete, file_id)
            del self._held[file_id]
        return await asyncio.to_thread(self._disk.write_pack, pack, head_of, known)

    async def _send(
        self, pack: str, running: Mapping[str, int], done: Callable[[Collection[str]], None]
    ) -> None:
        path = self._disk.pack_path(pack)
        try:
            pictures = await asyncio.to_thread(_index_of, path)
        except BadPack as error:
            log.warning("%s is removed, its pictures are packed again: %s", path, error)
            await asyncio.to_thread(self._disk.remove_pack, pack)
            return
        if pack not in self._uploaded:
            if not await self._rows.descriptions([picture.id for picture in pictures]):
                # Its rows are written, or its pictures were deleted, or are packed elsewhere.
                await self._leave(pack)
                return
            await self._object_store.put_whole(object_name(pack), path)
            self._uploaded.add(pack)
        await self._leave(pack, pictures)
        self._uploaded.remove(pack)
        held = [self._held.pop(one.id) for one in pictures if one.id in self._held]
        for chat in {picture.chat_id for picture in held}:
            self._holding.made(chat, running)
        done([one.id for one in pictures])

    async def _leave(self, pack: str, pictures: Sequence[PackedPicture] = ()) -> None:
        """Write where these pictures are, and remove the pack from this disk."""
        if not await self._rows.packed(pack, pictures):
            # All pictures were deleted meanwhile, or are in other packs.
            await asyncio.to_thread(self._disk.queue_removal, [pack])
        await asyncio.to_thread(self._disk.remove_pack, pack)


async def read_index(object_store: PackReader, pack: str) -> tuple[PackedPicture, ...]:
    """Return the pictures of a pack in the object store.

    Raises:
        BadPack: If the object is no pack.
        BytesMissing: If there is no such object.
        BucketUnavailable: If the object store does not answer.
    """
    name = object_name(pack)
    header = b"".join([part async for part in object_store.read(name, 0, HEADER_BYTES)])
    end = HEADER_BYTES + index_bytes(header)
    parts = [part async for part in object_store.read(name, HEADER_BYTES, end)]
    return pictures_of(b"".join(parts))


def _index_of(path: Path) -> tuple[PackedPicture, ...]:
    with path.open("rb") as file:
        return pictures_of(file.read(index_bytes(file.read(HEADER_BYTES))))
