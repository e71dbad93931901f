"""The manifest of a backup: its files with their hashes, as one JSON text. Pure.

The text ends with a hash of itself, so that a manifest that was cut off or edited is recognized.
"""

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

from .errors import DamagedBackup

FORMAT = 1
OBJECTS, MANIFESTS = "objects", "backups"
"""Folders of a place: bytes by their hash, and manifests by the time of the backup."""
DATABASE = "deskhand.db"


@dataclass(frozen=True)
class BackedUpFile:
    """One file of a backup."""

    path: str
    """Relative to the data directory, with slashes."""
    size: int
    sha256: str
    modified: int
    """Time of its last change, in nanoseconds since 1970."""


@dataclass(frozen=True)
class Manifest:
    """One backup; its files are ordered by path."""

    at: float
    """Unix time in seconds."""
    version: str
    """Version of the program that made it."""
    files: tuple[BackedUpFile, ...]
    secrets_key: str = ""
    """Id of the key of the encrypted secrets; empty without secrets."""
    wrapped_key: str = ""
    """That key, encrypted with a passphrase; empty if it is not in the backup."""
    bucket: str = ""
    """Bucket that holds stored files, which are not in the backup."""

    @property
    def name(self) -> str:
        """Name of the backup, which sorts by time."""
        made = datetime.fromtimestamp(self.at, UTC)
        return f"{made:%Y%m%dT%H%M%S}.{made.microsecond // 1000:03d}Z"

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)

    def to_text(self) -> str:
        """Return the JSON text."""
        fields = {"format": FORMAT, **asdict(self)}
        return json.dumps({**fields, "sha256": _digest(fields)})


def parse_manifest(text: str) -> Manifest:
    """Return the manifest of a text.

    Raises:
        DamagedBackup: If the text was cut off, changed, or written by a newer version.
    """
    try:
        fields = json.loads(text)
        digest = fields.pop("sha256")
        version = fields["format"]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamagedBackup("the manifest of the backup cannot be read") from error
    if version != FORMAT:
        raise DamagedBackup(f"the backup has the format {version}; this version reads {FORMAT}")
    if digest != _digest(fields):
        raise DamagedBackup("the manifest of the backup was changed")
    del fields["format"]
    try:
        files = tuple(BackedUpFile(**file) for file in fields.pop("files"))
        manifest = Manifest(files=files, **fields)
    except (KeyError, TypeError) as error:
        raise DamagedBackup("the manifest of the backup has other fields") from error
    for file in files:
        _check(file)
    return manifest


def object_name(sha256: str) -> str:
    """Return the name of the object with the bytes of a hash."""
    return f"{OBJECTS}/{sha256[:2]}/{sha256}"


def manifest_name(backup: str) -> str:
    """Return the name of the object with the manifest of a backup."""
    return f"{MANIFESTS}/{backup}.json"


def backup_names(objects: Collection[str]) -> list[str]:
    """Return the names of the backups among the objects of a place, the newest last."""
    found = (PurePosixPath(name) for name in objects)
    return sorted(
        path.stem for path in found if str(path.parent) == MANIFESTS and path.suffix == ".json"
    )


def _check(file: BackedUpFile) -> None:
    """Refuse a path that leads out of the data directory, and a hash that is none."""
    path = PurePosixPath(file.path)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise DamagedBackup(f"the backup has a path outside of the data directory: {file.path}")
    if len(file.sha256) != 64 or not set(file.sha256) <= set("0123456789abcdef"):
        raise DamagedBackup(f"the backup has no hash of {file.path}")


def _digest(fields: Mapping[str, Any]) -> str:
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
