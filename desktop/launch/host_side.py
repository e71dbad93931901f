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
from deskhand.desktop.isolation.account import USER_LOCKS, Account, lock_numbered
from deskhand.desktop.isolation.data_dir import DesktopDirectory, open_root
from deskhand.desktop.isolation.user_processes import kill_user_processes

from .channel import Message
from .desktop_group import DesktopGroup
from .display_number import reserve_display
from .leftovers import clean_leftovers, lock_instance


@dataclass(frozen=True)
class HostRequest:
    """The desktop to prepare."""

    instance: str
    root: Path
    folder: Path
    numbers: tuple[int, ...]
    """Of the users that it may run as."""
    separated: bool
    """True if it has namespaces of its own."""


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
        numbers=tuple(message["numbers"]),
        separated=message["separated"],
    )


def prepare(request: HostRequest) -> Preparation:
    """Clean up after dead desktops, claim a user and a display, and make the directory.

    Raises:
        DesktopError: If there is no user.
        OSError: If the directory cannot be made.
    """
    folder = DesktopDirectory(request.folder)
    open_root(request.root)
    clean_leftovers(request.root, request.numbers)
    alive = lock_instance(request.root, request.instance, folder)
    account, claim = lock_numbered(USER_LOCKS, request.numbers)
    folder.make(account)
    # The user is this desktop's alone: a process of it is left from an earlier desktop, and could
    # read this one's memory.
    kill_user_processes(account.uid)
    held = [_detached(alive), _detached(claim)]
    if not request.separated:
        return Preparation(account, None, tuple(held))
    display, name = reserve_display()
    return Preparation(account, display, (*held, name.detach()))


def clear(request: HostRequest, user: int, *, files: bool) -> None:
    """End the processes of an ended desktop and, with ``files``, remove all but its recordings."""
    kill_user_processes(user)
    DesktopGroup(request.instance).remove()
    folder = DesktopDirectory(request.folder)
    if files:
        with suppress(OSError):
            folder.clear(keep_calls=not folder.is_in(request.root))


def _detached(file: TextIO) -> int:
    descriptor = os.dup(file.fileno())
    file.close()
    return descriptor
