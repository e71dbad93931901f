"""Files of a profile that no desktop has: checked, measured, and given to another user.

The browser of an earlier desktop wrote them and may have been taken over, so each is addressed by
the descriptor of its directory, and no link is followed (openat(2)).
"""

import os
import shutil
import stat

from .errors import ProfileRefused

LARGEST_PROFILE = 1 << 30
"""Bytes on the disk that a profile may have."""
MOST_FILES = 100_000
CACHES = frozenset(
    {
        *("Cache", "Code Cache", "GPUCache", "ShaderCache", "GrShaderCache"),
        *("GraphiteDawnCache", "DawnCache", "DawnGraphiteCache", "DawnWebGPUCache"),
    }
)
"""Directories that the browser makes anew; they are most of a profile."""

_BLOCK = 512
"""Unit of ``st_blocks`` (stat(2))."""


def adopt(folder: str, owner: tuple[int, int] | None, largest: int = LARGEST_PROFILE) -> int:
    """Make the files ready for the next desktop; return their bytes on the disk.

    Caches are removed, and so is all that is no ordinary file or directory: links, which could
    lead elsewhere, and files with a second name, whose owner would change there too. ``owner`` is
    the user and the group of the files; None to leave them.

    Raises:
        ProfileRefused: If there are too many files, or too large ones.
        OSError: If the system refuses.
    """
    size = files = 0
    try:
        for _, folders, names, inside in os.fwalk(folder, follow_symlinks=False):
            if owner is not None:
                os.fchown(inside, *owner)
            for name in (*folders, *names):
                size += _adopted(name, inside, owner, folders)
            files += len(folders) + len(names)
            if size > largest or files > MOST_FILES:
                raise ProfileRefused(
                    f"has more than {largest >> 20} MiB or {MOST_FILES:,} files; remove it"
                )
    except RecursionError as error:
        raise ProfileRefused("has too many directories in each other; remove it") from error
    return size


def size_of(folder: str) -> int:
    """Return the bytes on the disk; files that vanish meanwhile count nothing."""
    size = 0
    try:
        for _, _, names, inside in os.fwalk(folder, follow_symlinks=False):
            for name in names:
                try:
                    size += os.stat(name, dir_fd=inside, follow_symlinks=False).st_blocks * _BLOCK
                except FileNotFoundError:
                    continue
    except (RecursionError, FileNotFoundError):
        return size
    return size


def _adopted(name: str, inside: int, owner: tuple[int, int] | None, folders: list[str]) -> int:
    """Adopt or remove what a name is; return its bytes."""
    status = os.stat(name, dir_fd=inside, follow_symlinks=False)
    if stat.S_ISDIR(status.st_mode):
        if name in CACHES:
            folders.remove(name)
            shutil.rmtree(name, dir_fd=inside)
        return 0
    if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
        if name in folders:
            folders.remove(name)
        os.unlink(name, dir_fd=inside)
        return 0
    if owner is not None:
        os.chown(name, *owner, dir_fd=inside, follow_symlinks=False)
    return status.st_blocks * _BLOCK
