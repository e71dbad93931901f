"""Decisions of an incremental backup: its files, and those that need not be read again. Pure."""

from collections.abc import Collection, Iterable, Mapping
from pathlib import PurePosixPath

from .manifest import BackedUpFile, Manifest, object_name

WORK = ".backup"
"""Folder of the data directory in which a backup prepares copies."""
_LEFT_OUT = {"run", "logs", "lock", "reserve", "secrets.key", WORK}
"""Names in the data directory that belong to one machine or to a running process. The key of the
secrets is left out, as a backup with both would protect nothing."""
_STORED = "files"


def is_backed_up(path: str) -> bool:
    """Return True if a path, relative to the data directory, belongs in a backup."""
    parts = PurePosixPath(path).parts
    if parts[0] in _LEFT_OUT or parts[0].startswith("deskhand.db"):
        return False
    # Unfinished files get their names when they are complete.
    unfinished = parts[-1].startswith(".") and parts[-1].endswith(".part")
    # Packs are made of pictures that are backed up as files of their own.
    return not (parts[0] == _STORED and (unfinished or parts[1:2] in (("incoming",), ("packs",))))


def is_replaced_whole(path: str) -> bool:
    """Return True if a file changes only by being replaced, so that an open one never does."""
    return PurePosixPath(path).parts[0] == _STORED


class BackedUp:
    """The files of the backup before, and the objects that the place has."""

    def __init__(self, previous: Manifest | None, objects: Collection[str]) -> None:
        files: Iterable[BackedUpFile] = () if previous is None else previous.files
        self._files: Mapping[str, BackedUpFile] = {file.path: file for file in files}
        self._objects = set(objects)

    def unchanged(self, path: str, size: int, modified: int) -> BackedUpFile | None:
        """Return the entry of a file that is the same as in the backup before."""
        file = self._files.get(path)
        if file is None or (file.size, file.modified) != (size, modified):
            return None
        return file if self.has(file.sha256) else None

    def has(self, sha256: str) -> bool:
        """Return True if the place has the bytes of a hash."""
        return object_name(sha256) in self._objects

    def added(self, sha256: str) -> None:
        """Record that the place has the bytes of a hash from now on."""
        self._objects.add(object_name(sha256))


def complete(
    before: Iterable[BackedUpFile], after: Iterable[BackedUpFile], stored: Collection[str]
) -> tuple[BackedUpFile, ...]:
    """Return the files that belong to a copy of the database.

    ``before`` and ``after`` were found before and after the copy was made; ``stored`` are the ids
    of the files that it names. A file that was removed meanwhile is kept if the copy names it.
    """
    found = {file.path: file for file in before if _id_of(file.path) in stored}
    found |= {file.path: file for file in after}
    return tuple(found[path] for path in sorted(found))


def _id_of(path: str) -> str:
    parts = PurePosixPath(path).parts
    return PurePosixPath(parts[-1]).stem if parts[0] == _STORED else ""
