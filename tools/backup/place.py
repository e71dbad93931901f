"""The place of backups: a port, and its adapter for a folder; a bucket fits the port as it is."""

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import BinaryIO, Protocol
from uuid import uuid4

from deskhand.tools.store.errors import BytesMissing

_CHUNK = 1 << 20
_UNFINISHED = ".part"


class BackupPlace(Protocol):
    """Named objects; ``deskhand.tools.store.bucket.Bucket`` implements it too.

    An object appears when it is complete. The methods raise ``StoreError`` or ``OSError`` if the
    place cannot be used.
    """

    async def put(self, name: str, source: Path) -> None:
        """Store the bytes of a file under a name, replacing the object of that name."""

    def read(self, name: str) -> AsyncIterator[bytes]:
        """Yield the bytes of an object; raise ``BytesMissing`` if there is none."""

    async def names(self) -> list[str]:
        """Return the names of all objects."""


class FolderPlace:
    """Objects as files below a folder; what a killed process left unfinished is never read."""

    def __init__(self, root: Path) -> None:
        self._root = root

    async def put(self, name: str, source: Path) -> None:
        """Copy a file; it has its name only after its bytes are on the disk."""
        target = self._root / name
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        unfinished = target.with_name(f".{uuid4()}{_UNFINISHED}")
        try:
            with source.open("rb") as read, _private(unfinished) as out:
                while chunk := read.read(_CHUNK):
                    out.write(chunk)
                out.flush()
                os.fsync(out.fileno())
            unfinished.replace(target)
        finally:
            unfinished.unlink(missing_ok=True)
        sync_folder(target.parent)

    async def read(self, name: str) -> AsyncIterator[bytes]:
        """Yield the bytes of an object.

        Raises:
            BytesMissing: If there is none.
        """
        try:
            with (self._root / name).open("rb") as file:
                while chunk := file.read(_CHUNK):
                    yield chunk
        except FileNotFoundError as error:
            raise BytesMissing(name) from error

    async def names(self) -> list[str]:
        """Return the names of all objects."""
        return [
            path.relative_to(self._root).as_posix()
            for path in self._files()
            if path.suffix != _UNFINISHED
        ]

    def remove_unfinished(self) -> None:
        """Remove what killed processes left; no other backup to this folder may run."""
        for path in self._files():
            if path.suffix == _UNFINISHED:
                path.unlink(missing_ok=True)

    def _files(self) -> list[Path]:
        return [Path(folder, name) for folder, _, names in os.walk(self._root) for name in names]


def sync_folder(folder: Path) -> None:
    """Write the names in a folder to the disk, as fsync(2) of a file does not."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _private(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
