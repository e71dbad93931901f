"""Closing of the data directory to other users, at the start of a control plane."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SECRET_PARTS = ("files", "logs", "run")
OTHERS = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True)
class OpenPath:
    """A file or folder with rights for other users."""

    path: Path
    mode: int
    reachable: bool = True
    """False if a closed folder above keeps others away."""

    def __str__(self) -> str:
        return f"{self.path}: other users could access it (mode {self.mode:04o})"


def close_to_others(data_dir: Path) -> list[OpenPath]:
    """Make the folders of a data directory, and close it with its files and logs.

    Return what other users could access until now.
    """
    for part in SECRET_PARTS:
        (data_dir / part).mkdir(mode=0o700, exist_ok=True)
    return [one for one in _each(data_dir) if _close(one)]


def open_to_others(data_dir: Path) -> list[OpenPath]:
    """Return what other users can access in a data directory."""
    return [one for one in _each(data_dir) if one.reachable] if data_dir.is_dir() else []


def _each(data_dir: Path) -> Iterator[OpenPath]:
    """Iterate over what has rights for others: the directory, what is in it, and its logs."""
    top = _rights(data_dir)
    if top:
        yield OpenPath(data_dir, top)
    for path in sorted(data_dir.iterdir()):
        rights = _rights(path)
        if rights:
            # Behind a closed folder the rights of a file mean nothing.
            yield OpenPath(path, rights, reachable=bool(top & OTHERS))
        if path.name == "logs" and path.is_dir():
            for log in sorted(path.iterdir()):
                if found := _rights(log):
                    yield OpenPath(log, found, reachable=bool(top & OTHERS and rights & OTHERS))


def _rights(path: Path) -> int:
    """Return the mode of a file or folder that has rights for others, else 0."""
    mode = path.lstat().st_mode
    is_plain = stat.S_ISDIR(mode) or stat.S_ISREG(mode)
    return stat.S_IMODE(mode) if is_plain and mode & OTHERS else 0


def _close(one: OpenPath) -> bool:
    """Take the rights of others away; return whether others could use them."""
    # A sticky folder is shared on purpose, as /tmp: closing it would lock everyone out.
    if not one.mode & stat.S_ISVTX and one.path.lstat().st_uid == os.geteuid():
        one.path.chmod(one.mode & ~OTHERS)
    return one.reachable
