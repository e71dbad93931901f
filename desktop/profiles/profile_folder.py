"""The profiles of one control plane: listed, removed, and closed after their desktops."""

import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from . import stored_files
from .profile_lock import acquire, holder_of
from .profiles import FILES, close


@dataclass(frozen=True)
class StoredProfile:
    """A profile as it is listed."""

    name: str
    bytes: int
    used_at: float
    """Unix time at which a desktop got it last."""
    holder: str
    """Name of the directory of the desktop that has it; empty if none has."""


class ProfileFolder:
    """The profiles in one folder, by their names."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def of(self, name: str) -> Path:
        """Return the directory of a profile; the folder is made if it is missing."""
        self._folder.mkdir(parents=True, exist_ok=True)
        # The mode of mkdir(2) is subject to the umask.
        self._folder.chmod(0o711)
        return self._folder / name

    def close_unused(self) -> None:
        """Close the profiles of desktops that were killed: a later one may have their users."""
        for path in self._paths():
            if not holder_of(path):
                close(path)

    def all(self) -> list[StoredProfile]:
        """Return the profiles in the order of their names."""
        found = []
        for path in self._paths():
            with suppress(FileNotFoundError):
                size, used = stored_files.size_of(str(path / FILES)), path.stat().st_mtime
                found.append(StoredProfile(path.name, size, used, holder_of(path)))
        return found

    def remove(self, name: str) -> bool:
        """Remove a profile; return False if there is none.

        Raises:
            ProfileInUse: If a desktop has it.
            OSError: If it cannot be removed.
        """
        path = self._folder / name
        if not path.is_dir():
            return False
        lock = acquire(path)
        try:
            # `rmtree` follows no link (shutil).
            shutil.rmtree(path)
        except RecursionError as error:
            raise OSError(f"the profile {name} has too many directories in each other") from error
        finally:
            os.close(lock)
        return True

    def _paths(self) -> list[Path]:
        return sorted(one for one in self._folder.glob("*") if one.is_dir())
