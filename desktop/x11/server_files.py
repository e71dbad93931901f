"""Lock and socket files that X servers leave in ``/tmp`` when they are killed."""

import os
import socket
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

X_SOCKETS = Path("/tmp/.X11-unix")  # noqa: S108 - compiled into every X client
X_LOCKS = Path("/tmp")  # noqa: S108 - the same
STARTING_SECONDS = 10.0


def clear_stale(users: Collection[int] = ()) -> None:
    """Remove locks and sockets of dead X servers of these users, by default of our own."""
    owners = users or (os.geteuid(),)
    for lock in X_LOCKS.glob(".X*-lock"):
        number = lock.name[2 : -len("-lock")]
        if number.isdigit():
            clear_lock(int(number), owners)
    for path in X_SOCKETS.glob("X*"):
        clear_socket(path, owners, older_than=STARTING_SECONDS)


def clear_lock(number: int, owners: Collection[int]) -> None:
    """Remove the lock of a display if one of ``owners`` owns it and its server is dead."""
    lock = X_LOCKS / f".X{number}-lock"
    with suppress(OSError, ValueError):
        if lock.lstat().st_uid in owners and not _alive(int(lock.read_text())):
            lock.unlink()


def clear_socket(path: Path, owners: Collection[int], older_than: float = 0.0) -> None:
    """Remove a socket that one of ``owners`` owns and no server accepts on; age in seconds."""
    # A starting server refuses connections too, between bind(2) and listen(2): hence the age.
    with suppress(OSError), socket.socket(socket.AF_UNIX) as client:
        found = path.lstat()
        if found.st_uid not in owners or time.time() - found.st_mtime < older_than:
            return
        # connect(2) to a hung server with a full backlog would block.
        client.setblocking(False)
        try:
            client.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        # The process exists, but belongs to another user (kill(2)).
        pass
    return True
