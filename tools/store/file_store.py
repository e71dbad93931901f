"""Stored files on this disk: one file for the bytes of each, found by id.

Layout below the root:

    <2 characters>/<id>        the bytes
    <2 characters>/<id>.json   the description: the row of the database as JSON, for ``rebuild``
    <2 characters>/.<id>.part  being written; renamed when complete
    incoming/<uuid>            being downloaded, to be adopted by renaming
    condemned/<id>             empty: to be removed from the bucket
    packs/<id>.pack            pictures of steps as one object, until their rows name it

All writes end with :meth:`pathlib.Path.replace`, which is atomic within a file system: a reader
finds the whole file or none.
"""

import hashlib
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

Stamps = tuple[int | None, int | None]
"""Times at which a file and its description were written, in nanoseconds; ``None`` if missing."""


@dataclass(frozen=True)
class StoredFile:
    """Id, size and digest of the bytes that were stored.

    ``waits`` if they must still be moved to a bucket.
    """

    id: str
    size: int
    sha256: str
    waits: bool = False


class FileStore:
    """Files under ``<root>/<first two of the id>/<id>``.

    A file appears under its name only when it is complete. All methods block: call them in a
    thread. ``moves`` if they are moved to a bucket later.
    """

    def __init__(self, root: Path, *, moves: bool = False) -> None:
        self._root = root
        self._moves = moves

    @property
    def root(self) -> Path:
        """The folder of all stored files."""
        return self._root

    def path(self, file_id: str) -> Path:
        """Return the path of a file's bytes, whether they are there or not."""
        return self._root / file_id[:2] / file_id

    def save(self, data: bytes) -> StoredFile:
        """Store ``data`` under a new id."""
        file_id = str(uuid.uuid4())
        _write(self._make_room(file_id), data)
        return StoredFile(file_id, len(data), hashlib.sha256(data).hexdigest(), self._moves)

    def restore(self, file_id: str, data: bytes) -> None:
        """Store the bytes of a file that has a row, unless they are here."""
        target = self._make_room(file_id)
        if not target.exists():
            _write(target, data)

    def adopt(self, source: Path) -> StoredFile:
        """Move a file of the same file system into the store by renaming it."""
        with source.open("rb") as file:
            # Before the move: a file whose reading is cut off stays in ``incoming``, which is
            # swept.
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
            size = file.seek(0, 2)
        file_id = str(uuid.uuid4())
        source.replace(self._make_room(file_id))
        return StoredFile(file_id, size, sha256, self._moves)

    def link(self, source: Path, file_id: str) -> StoredFile:
        """Store a file of the same file system under a given id, and leave it where it is.

        Storing it again replaces it, so that a caller that was killed may repeat the call.
        """
        target = self._make_room(file_id)
        unfinished = target.with_name(f".{file_id}.part")
        unfinished.unlink(missing_ok=True)
        unfinished.hardlink_to(source)
        # rename(2) of two links to one file does nothing and leaves both.
        unfinished.replace(target)
        unfinished.unlink(missing_ok=True)
        with target.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
            return StoredFile(file_id, file.seek(0, 2), sha256, self._moves)

    def incoming(self) -> Path:
        """Return a new name on the store's file system, for a file to be adopted."""
        folder = self._root / "incoming"
        folder.mkdir(parents=True, exist_ok=True)
        return folder / str(uuid.uuid4())

    def sweep(self) -> None:
        """Remove incoming files that were never adopted; call it before anything is downloaded."""
        for unfinished in (self._root / "incoming").glob("*"):
            unfinished.unlink(missing_ok=True)
        for unfinished in (self._root / "packs").glob(".*.part"):
            unfinished.unlink(missing_ok=True)

    def load(self, file_id: str) -> bytes:
        """Return the bytes of a stored file."""
        return self.path(file_id).read_bytes()

    def describe(self, file_id: str, text: str) -> None:
        """Write the description of a file, from which a lost database can be rebuilt."""
        target = self.description_path(file_id)
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished = target.with_name(f".{file_id}.part")
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(target)

    def descriptions(self) -> Iterator[tuple[str, str]]:
        """Yield ids and descriptions of all files whose bytes are here."""
        for path_of_description in sorted(self._root.glob("??/*.json")):
            if self.path(path_of_description.stem).exists():
                yield path_of_description.stem, path_of_description.read_text(encoding="utf-8")

    def stamps(self) -> Iterator[tuple[str, Stamps]]:
        """Yield the ids of all files with bytes or a description here, and their times."""
        names = {path.name.removesuffix(".json") for path in self._root.glob("??/[!.]*")}
        for file_id in sorted(names):
            yield file_id, self._stamps(file_id)

    def drop(self, file_id: str, stamps: Stamps) -> bool:
        """Remove an uploaded file, unless it changed since; return whether it was removed."""
        # ``pin`` may have rewritten the description since the upload.
        if self._stamps(file_id) != stamps:
            return False
        self.delete(file_id)
        return True

    def queue_removal(self, file_ids: Iterable[str]) -> None:
        """Record that files must be removed from the bucket; the record survives a restart."""
        for file_id in file_ids:
            note = self._root / "condemned" / file_id
            note.parent.mkdir(parents=True, exist_ok=True)
            note.touch()

    def queued_removals(self) -> list[str]:
        """Return the ids of the files that must still be removed from the bucket."""
        return sorted(note.name for note in (self._root / "condemned").glob("*"))

    def finish_removal(self, file_ids: Iterable[str]) -> None:
        """Record that files were removed from the bucket."""
        for file_id in file_ids:
            (self._root / "condemned" / file_id).unlink(missing_ok=True)

    def write_pack(
        self,
        pack: str,
        head_of: Callable[[Sequence[tuple[str, int]]], bytes],
        file_ids: Sequence[str],
    ) -> bool:
        """Write a pack of those files that are here; return whether there is one.

        It begins with what ``head_of`` returns for their ids and sizes.
        """
        target = self.pack_path(pack)
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished = target.with_name(f".{pack}.part")
        try:
            while here := [one for one in map(self._size, file_ids) if one is not None]:
                # A file that is removed meanwhile is not in the next attempt.
                with suppress(FileNotFoundError):
                    self._write_pack(unfinished, head_of(here), [file_id for file_id, _ in here])
                    unfinished.replace(target)
                    return True
            return False
        finally:
            unfinished.unlink(missing_ok=True)

    def packs(self) -> list[str]:
        """Return the packs that are here."""
        return sorted(path.name for path in (self._root / "packs").glob("[!.]*"))

    def pack_path(self, pack: str) -> Path:
        """Return the path of a pack on this disk, whether it is there or not."""
        return self._root / "packs" / pack

    def remove_pack(self, pack: str) -> None:
        """Remove a pack from this disk; removing it twice is fine."""
        self.pack_path(pack).unlink(missing_ok=True)

    def delete(self, file_id: str) -> None:
        """Remove a file; removing it twice is fine."""
        # The description first: without it, ``rebuild`` does not restore a file whose removal was
        # cut off.
        self.description_path(file_id).unlink(missing_ok=True)
        self.path(file_id).unlink(missing_ok=True)

    def description_path(self, file_id: str) -> Path:
        """Return the path of a file's description."""
        return self.path(file_id).with_name(f"{file_id}.json")

    def _stamps(self, file_id: str) -> Stamps:
        return _written(self.path(file_id)), _written(self.description_path(file_id))

    def _size(self, file_id: str) -> tuple[str, int] | None:
        with suppress(FileNotFoundError):
            return file_id, self.path(file_id).stat().st_size
        return None

    def _write_pack(self, target: Path, head: bytes, file_ids: Iterable[str]) -> None:
        with target.open("wb") as pack:
            pack.write(head)
            for file_id in file_ids:
                with self.path(file_id).open("rb") as file:
                    shutil.copyfileobj(file, pack)

    def _make_room(self, file_id: str) -> Path:
        path = self.path(file_id)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path


def _write(target: Path, data: bytes) -> None:
    unfinished = target.with_name(f".{target.name}.part")
    try:
        # The leading dot of the name hides the unfinished file from ``stamps``.
        unfinished.write_bytes(data)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def _written(path: Path) -> int | None:
    with suppress(FileNotFoundError):
        return path.stat().st_mtime_ns
    return None
