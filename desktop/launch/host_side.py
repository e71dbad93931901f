"""What a desktop needs of the whole machine, before it starts and after it has ended.

This is done with root's rights in the host's namespaces: processes of dead desktops are visible
there, and so are the locks that desktops hold. With namespaces a child of the keeper does it, while
the service is still loading; otherwise the service itself.
"""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from deskhand.desktop.errors import DesktopError as DesktopError
from deskhand.desktop.isolation.account import Account, UserFiles, user_files
from deskhand.desktop.isolation.claims import USER_LOCKS, lock_numbered
from deskhand.desktop.isolation.data_dir import DesktopDirectory, open_root
from deskhand.desktop.isolation.environment import BROWSER_HOME
from deskhand.desktop.isolation.user_processes import kill_user_processes
from deskhand.desktop.profiles import profiles

from .channel import Message
from .desktop_group import CpuShare, DesktopGroup
from .display_number import reserve_display
from .leftovers import clean_leftovers, lock_instance
from .mount_plan import USER_FILES


@dataclass(frozen=True)
class HostRequest:
    """The desktop to prepare."""

    instance: str
    root: Path
    folder: Path
    numbers: range
    """Of the users that it may run as."""
    uid_base: int
    """Base of their ids."""
    separated: bool
    """True if it has namespaces of its own."""
    profile: Path | None = None
    """The named profile of its browser."""


@dataclass(frozen=True)
class Preparation:
    """What was prepared; closing the files ends it."""

    account: Account
    display: int | None
    """Number of the X display that no other desktop has; None for the X server's own choice."""
    held: tuple[int, ...]
    """Descriptors to keep open while the desktop lives: its locks and its display."""


def parsed(message: Message) -> HostRequest:
    """Return the request of a message."""
    return HostRequest(
        instance=message["instance"],
        root=Path(message["root"]),
        folder=Path(message["folder"]),
        numbers=range(*message["numbers"]),
        uid_base=message["uid_base"],
        separated=message["separated"],
        profile=Path(message["profile"]) if message["profile"] else None,
    )


def prepare(request: HostRequest) -> Preparation:
    """Clean up after dead desktops, claim user, profile and display, and make the directory.

    Raises:
        DesktopError: If there is no user, or the profile cannot be used.
        OSError: If the directory cannot be made.
    """
    folder = DesktopDirectory(request.folder)
    kept = open_root(request.root)
    clean_leftovers(request.root, request.numbers, request.uid_base)
    alive = lock_instance(request.root, request.instance, folder)
    account, claim = lock_numbered(
        USER_LOCKS, request.numbers, request.uid_base, browser_separated=request.separated
    )
    # The users are this desktop's alone: a process of one is left from an earlier desktop, and
    # could read this one's memory.
    kill_user_processes(*account.uids)
    folder.make(account)
    _write_user_files(folder, account)
    held = [kept, _detached(alive), _detached(claim)]
    if request.profile is not None:
        browser = account.browser.uid, account.browser.gid
        mounted = request.separated
        held.append(profiles.claim(request.profile, folder.path, browser, mounted=mounted))
        if not mounted:
            profiles.link(request.profile, folder.path)
    if not request.separated:
        return Preparation(account, None, tuple(held))
    display, name = reserve_display()
    return Preparation(account, display, (*held, name.detach()))


def clear(request: HostRequest, account: Account, *, files: bool) -> None:
    """End the processes of an ended desktop and, with ``files``, remove all but its recordings."""
    kill_user_processes(*account.uids)
    DesktopGroup(request.instance).end()
    CpuShare(request.instance).remove()
    folder = DesktopDirectory(request.folder)
    if files:
        with suppress(OSError):
            folder.clear(keep_calls=not folder.is_in(request.root))
    if request.profile is not None:
        profiles.close(request.profile)


def _write_user_files(folder: DesktopDirectory, account: Account) -> None:
    host = UserFiles(*(Path(path).read_text() for _, path in USER_FILES))
    homes = str(folder.path / "home"), str(folder.path / BROWSER_HOME)
    files = user_files(account, homes[0], host, browser_home=homes[1])
    for (name, _), text in zip(USER_FILES, (files.passwd, files.group), strict=True):
        path = folder.path / name
        path.unlink(missing_ok=True)
        path.write_text(text)
        path.chmod(0o644)


def _detached(file: TextIO) -> int:
    descriptor = os.dup(file.fileno())
    file.close()
    return descriptor
