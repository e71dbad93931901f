"""`deskhand backup` and `deskhand restore`: copies of the data directory."""

import asyncio
import getpass
import os
import pwd
import sqlite3
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from deskhand.tools.backup.backup import Backup
from deskhand.tools.backup.directory import DataDirectory
from deskhand.tools.backup.errors import BackupError
from deskhand.tools.backup.manifest import DATABASE, Manifest
from deskhand.tools.backup.place import BackupPlace, FolderPlace
from deskhand.tools.backup.restore import check_empty, chosen_manifest, restore
from deskhand.tools.control_plane.process_user import acting_as, owner_of
from deskhand.tools.control_plane.settings import BadSetting, Settings
from deskhand.tools.secrets.encryption import key_id, key_of
from deskhand.tools.secrets.keys import KEY_FILE, keys_of
from deskhand.tools.secrets.passphrase import SHORTEST, unwrapped, wrapped
from deskhand.tools.secrets.store import ENCRYPTED
from deskhand.tools.store.bucket import Bucket
from deskhand.tools.store.errors import BadSecret, StoreError

from .exit_status import DONE, FAILED, USAGE
from .terminal import print_error, print_json, print_line
from .terminal import settings as read_settings

NO_SERVER = (
    "the database is on a server, which this command does not reach; it is {0} by {1} there,"
    " see docs/cluster.md"
)
_ERRORS = (BackupError, BadSetting, StoreError, OSError, sqlite3.Error)


def backup(flags: Mapping[str, Any], where: str, with_key: bool, as_json: bool) -> int:
    """Back the data directory up, also while Deskhand runs; return the exit status."""
    try:
        settings = read_settings(flags)
        data = settings.data_dir
        if settings.database:
            print_error(NO_SERVER.format("backed up", "pg_dump"))
            return USAGE
        if not (data / DATABASE).is_file():
            print_error(f"{data} has no database to back up; give another --data-dir")
            return USAGE
        user = owner_of(data)
        with acting_as(user):
            key, secret = _key_of(data)
        wrapped_key = _wrapped(key, secret) if with_key and key else ""
        directory = DataDirectory(data, lambda: acting_as(user))
        made = Backup(directory, _place(where, create=True))
        empty = Manifest(time.time(), version("deskhand"), (), key, wrapped_key, settings.store)
        with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:

            def text_file(text: str) -> Path:
                file.write(text)
                file.flush()
                return Path(file.name)

            manifest = asyncio.run(made.run(empty, text_file))
    except _ERRORS as error:
        print_error(f"the backup was not made: {error}")
        return FAILED
    for path in directory.unreadable:
        print_error(f"{path} cannot be read, and is not in the backup")
    _report_backup(manifest, made, as_json)
    return FAILED if directory.unreadable else DONE


def restore_into(flags: Mapping[str, Any], where: str, name: str | None, as_json: bool) -> int:
    """Restore a backup into an empty data directory; return the exit status."""
    try:
        settings = read_settings(flags)
        if settings.database:
            print_error(NO_SERVER.format("restored", "pg_restore"))
            return USAGE
        check_empty(settings.data_dir)
        manifest, missing = asyncio.run(_restored(settings, _place(where), name))
    except _ERRORS as error:
        print_error(f"nothing was restored: {error}")
        return FAILED
    if as_json:
        about = {"data_dir": str(settings.data_dir), "missing_key": missing or None}
        print_json(_facts(manifest) | about)
    else:
        files = f"{len(manifest.files)} files, {manifest.size} bytes"
        print_line(f"restored {manifest.name} into {settings.data_dir}: {files}, all verified")
    if missing:
        print_error(
            f"the secrets need the key {missing}, which is not here: give the systemd credential"
            f" deskhand-secrets, the keyring entry, or copy the old {KEY_FILE} into the directory"
        )
    if manifest.bucket:
        print_error(f"stored files are in {manifest.bucket}, which is not part of the backup")
    return DONE


async def _restored(
    settings: Settings, place: BackupPlace, name: str | None
) -> tuple[Manifest, str]:
    """Restore; return the manifest, and the id of the key that is missing."""
    data = settings.data_dir
    manifest = await chosen_manifest(place, name)
    key, wanted = None, manifest.secrets_key
    missing = wanted if wanted and keys_of(data, os.environ).by_id(wanted) is None else ""
    if missing and manifest.wrapped_key:
        secret = unwrapped(manifest.wrapped_key, _passphrase("Passphrase of the backup's key: "))
        if key_id(secret) != wanted:
            raise BadSecret("the backup includes another key than its secrets need")
        key, missing = (KEY_FILE, secret), ""
    await restore(place, manifest, data, key, _owner(data, settings.run_as))
    return manifest, missing


def _owner(data: Path, run_as: str) -> int:
    """Return the owner of a data directory: of an existing one, else who will use it."""
    if os.geteuid() != 0:
        return os.geteuid()
    if data.is_dir() and data.stat().st_uid != 0:
        return data.stat().st_uid
    with suppress(KeyError):
        return pwd.getpwnam(run_as).pw_uid
    return 0


def _key_of(data: Path) -> tuple[str, bytes]:
    """Return the id of the key of the stored secrets, empty without secrets, and the secret."""
    path = data / ENCRYPTED
    if not path.exists():
        return "", b""
    wanted = key_of(path.read_text(encoding="utf-8"))
    key = keys_of(data, os.environ).by_id(wanted)
    # A key that only the unit of systemd has is none that this command could include.
    return wanted, b"" if key is None else key.secret


def _wrapped(key: str, secret: bytes) -> str:
    if not secret:
        raise BadSecret(f"the key {key} of the secrets is not here, so it cannot be included")
    if secret.strip() != secret:
        raise BadSecret(f"the key {key} begins or ends with white space; keep a copy of it apart")
    return wrapped(secret, _new_passphrase())


def _place(where: str, *, create: bool = False) -> BackupPlace:
    if where.startswith("s3://"):
        return Bucket(where, os.environ)
    folder = Path(where).expanduser().absolute()
    place = FolderPlace(folder)
    if create:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        place.remove_unfinished()
    return place


def _new_passphrase() -> str:
    passphrase = _passphrase("Passphrase for the key (not shown): ")
    if len(passphrase) < SHORTEST:
        raise BadSecret(f"give a passphrase of {SHORTEST} characters or more")
    if sys.stdin.isatty() and passphrase != getpass.getpass("Once more: "):
        raise BadSecret("the two passphrases differ")
    return passphrase


def _passphrase(prompt: str) -> str:
    """Return a passphrase from the terminal, or the first line of a pipe."""
    return getpass.getpass(prompt) if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")


def _report_backup(manifest: Manifest, made: Backup, as_json: bool) -> None:
    totals = made.totals
    if as_json:
        new = {"new_objects": totals.objects, "new_bytes": totals.bytes}
        key = {"secrets_key": manifest.secrets_key or None, "with_key": bool(manifest.wrapped_key)}
        print_json(_facts(manifest) | new | key)
        return
    print_line(
        f"backup {manifest.name}: {len(manifest.files)} files, {manifest.size} bytes;"
        f" {totals.objects} new, {totals.bytes} bytes"
    )
    if manifest.secrets_key and not manifest.wrapped_key:
        print_line(f"  its secrets need the key {manifest.secrets_key}, which is not included")


def _facts(manifest: Manifest) -> dict[str, Any]:
    return {"name": manifest.name, "files": len(manifest.files), "bytes": manifest.size}
