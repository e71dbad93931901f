"""Working directories of root chats, shared by all desktops of a chat.

Each lies in a folder outside of the data directory and of the desktops' own directories. As root,
each has a group of its own, which the user of each desktop of the chat joins. New files get the
group by the setgid bit, and its rights by a default ACL (acl(5)), which also replaces the umask.
The group of a directory is its only record: one that no directory has is free.
"""

import fcntl
import grp
import logging
import os
import shutil
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

log = logging.getLogger(__name__)

GROUPS = range(50_000, 60_000)
"""Group ids; those of the machine's own groups are left out, which are mostly lower."""

_ACL = "system.posix_acl_default"
# Version 2, then tag, rights and id of each entry (linux/posix_acl_xattr.h): the owner and the
# group may do everything, others nothing.
_UNUSED = 0xFFFFFFFF
_ENTRIES = ((0x01, 7), (0x04, 7), (0x20, 0))
DEFAULT_ACL = struct.pack("<I", 2) + b"".join(
    struct.pack("<HHI", tag, rights, _UNUSED) for tag, rights in _ENTRIES
)


@dataclass(frozen=True)
class Workdir:
    """The working directory of a root chat."""

    path: Path
    group: int | None
    """Group that a desktop's user must join; ``None`` where all desktops have one user."""

    def options(self) -> tuple[str, ...]:
        """Return the options of a desktop service."""
        shared = () if self.group is None else ("--workdir-group", str(self.group))
        return ("--workdir", str(self.path), *shared)


class Workdirs:
    """The working directories in one folder."""

    def __init__(self, folder: Path, data_dir: Path) -> None:
        """Use ``folder``.

        Raises:
            OSError: If it lies in the data directory, which agents must not reach.
        """
        self._folder = folder.expanduser().absolute()
        if self._folder.resolve().is_relative_to(data_dir.resolve()):
            where = f"{self._folder} lies in the data directory {data_dir}"
            raise OSError(f"workdirs: {where}; choose a folder outside of it")

    @property
    def folder(self) -> Path:
        """The folder with all of them."""
        return self._folder

    def prepare(self) -> None:
        """Create the folder if it is missing; all users may enter it, but not list it."""
        missing = [one for one in (self._folder, *self._folder.parents) if not one.exists()]
        for folder in reversed(missing):
            with suppress(FileExistsError):
                folder.mkdir()
                # The mode of mkdir(2) is subject to the umask.
                folder.chmod(0o711)

    def of(self, root_id: str) -> Workdir:
        """Return the working directory of a root chat; it is created at the first call.

        Another control plane may use the folder. Of two that create a directory at once, neither
        would see the group of the other's, so one waits for the other.
        """
        self.prepare()
        path = self._folder / root_id
        if os.geteuid() != 0:
            path.mkdir(mode=0o700, exist_ok=True)
            return Workdir(path, None)
        with suppress(FileNotFoundError):
            return Workdir(path, path.stat().st_gid)
        with self._locked():
            group = self._free_group()
            path.mkdir(mode=0o700)
            os.chown(path, -1, group)
        # After chown(2), which clears the setgid bit.
        path.chmod(0o2770)
        try:
            os.setxattr(path, _ACL, DEFAULT_ACL)
        except OSError as error:
            log.warning("%s: files are not writable for all desktops of a chat: %s", path, error)
        return Workdir(path, group)

    def remove(self, root_id: str) -> None:
        """Remove the working directory of a root chat whose desktops have ended, if it has one."""
        shutil.rmtree(self._folder / root_id, ignore_errors=True)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        # Only root can open the folder, as others may not list it.
        folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)

    def _free_group(self) -> int:
        used = {entry.gr_gid for entry in grp.getgrall()}
        for path in self._folder.iterdir():
            # Another control plane may have removed it meanwhile.
            with suppress(FileNotFoundError):
                used.add(path.stat().st_gid)
        return next(group for group in GROUPS if group not in used)
