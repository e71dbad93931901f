"""Named profiles of the browser: sign-ins and settings that outlive a desktop.

A profile is a directory with the files of the browser (`FILES`) and a lock. A desktop that is
started with it locks it before the browser can start, and the processes that hold the desktop's
own lock hold this one. So it is free as soon as they have ended, also after SIGKILL, and never
while a process of the desktop could write the files.

The browser works on the files themselves: nothing has to be saved when a desktop ends, and what a
killed browser leaves is what its databases restore. As root the users of desktops differ, so the
files get the browser's user of the desktop that has locked them (`stored_files`). The desktop sees
them at the place of its browser's directory: as a mount in its namespaces, else by a link.

While no desktop has it, only root, or the user of all desktops, can enter a profile: the ids of
users are given to later desktops.
"""

import os
import shutil
from contextlib import suppress
from pathlib import Path

from . import stored_files
from .errors import ProfileRefused
from .profile_lock import acquire

FILES = "files"
"""Directory of the browser's files in that of a profile."""
CLOSED, ENTERED = 0o700, 0o711
"""Modes of the directory of a profile: for its owner alone, or to be entered by the browser."""

BROWSER = "browser"
"""Place of the browser's files in the directory of a desktop."""


def claim(profile: Path, holder: Path, owner: tuple[int, int] | None, *, mounted: bool) -> int:
    """Lock a profile for a desktop and return the descriptor that holds the lock.

    ``holder`` is the directory of the desktop, ``owner`` the user and group of its browser, None if
    these have made the files. Without ``mounted`` the browser is let in by the path.

    Raises:
        ProfileInUse: If another desktop has it.
        ProfileRefused: If its files are too large.
        OSError: If it cannot be made.
    """
    profile.mkdir(mode=CLOSED, parents=True, exist_ok=True)
    lock = acquire(profile, holder.name)
    try:
        files = profile / FILES
        files.mkdir(mode=CLOSED, exist_ok=True)
        try:
            stored_files.adopt(str(files), owner)
        except ProfileRefused as error:
            raise ProfileRefused(f"the profile {profile.name} {error}") from error
        files.chmod(CLOSED)
        profile.chmod(CLOSED if mounted else ENTERED)
        os.utime(profile)
    except BaseException:
        os.close(lock)
        raise
    return lock


def link(profile: Path, folder: Path) -> None:
    """Show a profile in the directory of a desktop that has no mounts of its own."""
    place = folder / BROWSER
    shutil.rmtree(place)
    place.symlink_to(profile / FILES)


def close(profile: Path) -> None:
    """Close a profile to the users of its last desktop, which has ended."""
    # A service with the user of ``--user`` may not: the profile stays open to that user.
    with suppress(FileNotFoundError, PermissionError):
        profile.chmod(CLOSED)
