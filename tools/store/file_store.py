"""The bytes of stored files, one file each, found by id."""

import hashlib
import uuid
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

Stamps = tuple[int | None, int | None]
"""When a file and its words were written, in nanoseconds; ``None`` for what is not there."""


@dataclass(frozen=True)
class StoredFile:
    """What was put away."""

    id: str
    size: int
    sha256: str


class FileStore:
    """Files under ``<root>/<first two of the id>/<id>``.

    A file appears under its name only when it is whole. All calls block: use a thread.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def path(self, file_id: str) -> Path:
        """Where the bytes of that file are, or would be."""
        return self._root / file_id[:2] / file_id

    def save(self, data: bytes) -> StoredFile:
        """Store ``data`` under a new id."""
        file_id = str(uuid.uuid4())
        target = self._make_room(file_id)
        unfinished = target.with_name(f".{file_id}.part")
        try:
            unfinished.write_bytes(data)
            unfinished.replace(target)
        finally:
            unfinished.unlink(missing_ok=True)
        return StoredFile(file_id, len(data), hashlib.sha256(data).hexdigest())

    def adopt(self, source: Path) -> StoredFile:
        """Take over a file of the same file system by renaming it."""
        with source.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
            size = file.seek(0, 2)
        file_id = str(uuid.uuid4())
        source.replace(self._make_room(file_id))
        return StoredFile(file_id, size, sha256)

    def incoming(self) -> Path:
        """Return a new name on the store's file system, for a file to be adopted."""
        folder = self._root / "incoming"
        folder.mkdir(parents=True, exist_ok=True)
        return folder / str(uuid.uuid4())

    def sweep(self) -> None:
        """Remove what was never adopted; only for the time before anything is fetched."""
        for unfinished in (self._root / "incoming").glob("*"):
            unfinished.unlink(missing_ok=True)

    def load(self, file_id: str) -> bytes:
        """Return the bytes of a stored file."""
        return self.path(file_id).read_bytes()

    def describe(self, file_id: str, text: str) -> None:
        """Keep beside a file what it is, for a day on which nobody else knows."""
        target = self.words(file_id)
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished = target.with_name(f".{file_id}.part")
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(target)

    def descriptions(self) -> Iterator[tuple[str, str]]:
        """Ids and words of all described files whose bytes are there."""
        for words in sorted(self._root.glob("??/*.json")):
            if self.path(words.stem).exists():
                yield words.stem, words.read_text(encoding="utf-8")

    def stamps(self) -> Iterator[tuple[str, Stamps]]:
        """Which files are here, whole or only in words, and when they were written."""
        names = {path.name.removesuffix(".json") for path in self._root.glob("??/[!.]*")}
        for file_id in sorted(names):
            yield file_id, self._stamps(file_id)

    def drop(self, file_id: str, stamps: Stamps) -> bool:
        """Remove a file that is kept elsewhere, unless it was written since; whether it went."""
        if self._stamps(file_id) != stamps:
            return False
        self.delete(file_id)
        return True

    def condemn(self, file_ids: Iterable[str]) -> None:
        """Note that files which are kept elsewhere must be removed there."""
        for file_id in file_ids:
            note = self._root / "condemned" / file_id
            note.parent.mkdir(parents=True, exist_ok=True)
            note.touch()

    def condemned(self) -> list[str]:
        """What was condemned and is not acquitted."""
        return sorted(note.name for note in (self._root / "condemned").glob("*"))

    def acquit(self, file_ids: Iterable[str]) -> None:
        """Note that these were removed."""
        for file_id in file_ids:
            (self._root / "condemned" / file_id).unlink(missing_ok=True)

    def delete(self, file_id: str) -> None:
        """Remove a file; one that is gone already is fine."""
        self.words(file_id).unlink(missing_ok=True)
        self.path(file_id).unlink(missing_ok=True)

    def words(self, file_id: str) -> Path:
        """Where it is described."""
        return self.path(file_id).with_name(f"{file_id}.json")

    def _stamps(self, file_id: str) -> Stamps:
        return _written(self.path(file_id)), _written(self.words(file_id))

    def _make_room(self, file_id: str) -> Path:
        path = self.path(file_id)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path


def _written(path: Path) -> int | None:
    with suppress(FileNotFoundError):
        return path.stat().st_mtime_ns
    return None
