"""Restoring of a backup into an empty data directory; each hash is verified.

The files are written to a folder beside the data directory, which takes its place by one rename(2)
after all bytes are on the disk. A restore that is killed leaves the data directory empty, and the
next one begins again.
"""

import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deskhand.tools.store.errors import BytesMissing

from .backup import read_manifest
from .errors import BackupBusy, DamagedBackup, NoBackup, NotEmpty
from .manifest import BackedUpFile, Manifest, backup_names, object_name
from .place import BackupPlace, sync_folder


async def chosen_manifest(place: BackupPlace, backup: str | None) -> Manifest:
    """Return the manifest of a backup, by default of the newest one.

    Raises:
        NoBackup: If there is none.
        DamagedBackup: If it cannot be read.
        StoreError: If the place cannot be used, also ``OSError``.
    """
    backups = backup_names(await place.names())
    if not backups:
        raise NoBackup("there is no backup")
    return await read_manifest(place, backup or backups[-1])


async def restore(
    place: BackupPlace, manifest: Manifest, target: Path, key: tuple[str, bytes] | None, owner: int
) -> None:
    """Write the files of a backup to a data directory that is empty or does not exist.

    ``key`` is the name and the content of a key file to write too; ``owner`` is the user id of the
    files, where this process is root.

    Raises:
        NotEmpty: If the directory holds files.
        DamagedBackup: If an object is missing or has other bytes.
        BackupBusy: If another restore into this directory runs.
        StoreError: If the place cannot be used, also ``OSError``.
    """
    check_empty(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    with _staging(target) as folder:
        for file in manifest.files:
            path = folder / file.path
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            await _write(place, file, path)
        if key is not None:
            _write_private(folder / key[0], key[1])
        _finish(folder, owner)
        check_empty(target)
        # rename(2) replaces an empty directory, and fails if it has got files since.
        folder.rename(target)
        sync_folder(target.parent)


def check_empty(target: Path) -> None:
    """Check that a data directory holds no file.

    Raises:
        NotEmpty: If it does, or is none.
    """
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise NotEmpty(f"{target} is not a directory; restore needs an empty one")
    if target.is_dir() and any(target.iterdir()):
        raise NotEmpty(f"{target} is not empty; restore into another one with --data-dir")


@contextmanager
def _staging(target: Path) -> Iterator[Path]:
    folder = target.with_name(f".{target.name}.restoring")
    folder.mkdir(mode=0o700, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # A restore that was killed has left its files.
        _remove_entries(folder)
        yield folder
    except BlockingIOError:
        raise BackupBusy(f"another restore into {target} runs") from None
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    finally:
        os.close(descriptor)


def _remove_entries(folder: Path) -> None:
    for entry in folder.iterdir():
        shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()


async def _write(place: BackupPlace, file: BackedUpFile, path: Path) -> None:
    digest = hashlib.sha256()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as out:
            async for chunk in place.read(object_name(file.sha256)):
                digest.update(chunk)
                out.write(chunk)
            out.flush()
            os.fsync(out.fileno())
    except BytesMissing:
        raise DamagedBackup(f"the backup lacks the bytes of {file.path}") from None
    if digest.hexdigest() != file.sha256:
        raise DamagedBackup(f"the backup has other bytes of {file.path} than its hash says")
    os.utime(path, ns=(file.modified, file.modified))


def _write_private(path: Path, content: bytes) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        out.write(content)
        out.flush()
        os.fsync(out.fileno())


def _finish(folder: Path, owner: int) -> None:
    """Give the files to their owner, and write the folders to the disk."""
    for root, _, names in os.walk(folder):
        if os.geteuid() == 0:
            for path in (Path(root), *(Path(root, name) for name in names)):
                os.chown(path, owner, -1)
        sync_folder(Path(root))
