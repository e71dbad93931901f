"""Backups of a data directory in use: incremental, and whole after any crash.

A place holds objects, named by the SHA-256 of their bytes, and one manifest for each backup, which
lists its files. Objects are written first and never changed, so that a backup that is killed
leaves the ones before it as they were, and the next one continues with its objects. A file with
the size and time that it had in the backup before is not read again.

The database is copied by SQLite's backup API. Its rows name stored files, which are written before
their rows and removed after them. So the files are backed up before the copy, and those that are
new once more after it: each file that the copy names is in the backup.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from deskhand.tools.store.errors import BytesMissing

from .directory import DataDirectory, OpenFile
from .errors import NoBackup
from .manifest import (
    BackedUpFile,
    Manifest,
    backup_names,
    manifest_name,
    object_name,
    parse_manifest,
)
from .place import BackupPlace
from .plan import BackedUp, complete
from .snapshot import stored_ids


@dataclass
class BackupTotals:
    """What a backup has added to its place."""

    objects: int = 0
    bytes: int = 0


class Backup:
    """One backup of a directory to a place."""

    def __init__(self, directory: DataDirectory, place: BackupPlace) -> None:
        self._directory = directory
        self._place = place
        self._known = BackedUp(None, ())
        self.totals = BackupTotals()

    async def run(self, empty: Manifest, text_file: Callable[[str], Path]) -> Manifest:
        """Make the backup; ``empty`` is its manifest without files.

        ``text_file`` returns the path of a private file with a text.

        Raises:
            BackupBusy: If another backup of the directory runs.
            StoreError: If the place cannot be used, also ``OSError``.
            sqlite3.Error: If the database cannot be copied.
        """
        with self._directory.locked() as work:
            names = await self._place.names()
            self._known = BackedUp(await self._previous(names), names)
            before = await self._files()
            with self._directory.database(work) as (copy, opened):
                stored = stored_ids(copy)
                database = await self._entry(opened)
            after = await self._files()
            files = complete(before, [*after, database], stored)
            manifest = replace(empty, files=files)
            await self._place.put(manifest_name(manifest.name), text_file(manifest.to_text()))
        return manifest

    async def _previous(self, names: list[str]) -> Manifest | None:
        backups = backup_names(names)
        return await read_manifest(self._place, backups[-1]) if backups else None

    async def _files(self) -> list[BackedUpFile]:
        return [await self._entry(file) for file in self._directory.files()]

    async def _entry(self, file: OpenFile) -> BackedUpFile:
        same = self._known.unchanged(file.path, file.size, file.modified)
        if same is not None:
            return same
        with file.stable() as (path, sha256, size):
            if not self._known.has(sha256):
                await self._place.put(object_name(sha256), path)
                self._known.added(sha256)
                self.totals.objects += 1
                self.totals.bytes += size
        return BackedUpFile(file.path, size, sha256, file.modified)


async def read_manifest(place: BackupPlace, backup: str) -> Manifest:
    """Return the manifest of a backup.

    Raises:
        NoBackup: If the place has none of that name.
        DamagedBackup: If it cannot be read.
        StoreError: If the place cannot be used, also ``OSError``.
    """
    try:
        chunks = [chunk async for chunk in place.read(manifest_name(backup))]
    except BytesMissing:
        raise NoBackup(f"there is no backup {backup}") from None
    return parse_manifest(b"".join(chunks).decode("utf-8", "replace"))
