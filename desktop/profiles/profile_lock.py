"""The lock of a profile: an open file description lock (fcntl(2), F_OFD_SETLK).

Copies of the descriptor in other processes hold it too. Unlike that of flock(2), it can be asked
for without being acquired, so that a listing never keeps a desktop from its profile.
"""

import fcntl
import os
import struct
from contextlib import suppress
from pathlib import Path

from .errors import ProfileInUse

LOCK = "lock"
"""Name of the file in the directory of a profile; it contains the name of the holder."""
LONGEST_HOLDER = 256

_STRUCT_FLOCK = "hhlli"
_WHOLE_FILE = struct.pack(_STRUCT_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)


def acquire(profile: Path, holder: str = "") -> int:
    """Lock the directory of a profile, and return the descriptor that holds the lock.

    Raises:
        ProfileInUse: If it is locked.
        OSError: If it does not exist, or cannot be locked.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    lock = os.open(profile / LOCK, flags, 0o600)
    try:
        try:
            fcntl.fcntl(lock, fcntl.F_OFD_SETLK, _WHOLE_FILE)
        except BlockingIOError:
            raise ProfileInUse(profile.name, _holder(lock)) from None
        # Between open and fcntl another process may have removed the profile.
        if not os.path.samestat(os.fstat(lock), (profile / LOCK).stat()):
            raise FileNotFoundError(profile)
        os.ftruncate(lock, 0)
        os.pwrite(lock, holder.encode()[:LONGEST_HOLDER], 0)
    except BaseException:
        os.close(lock)
        raise
    return lock


def holder_of(profile: Path) -> str:
    """Return the holder of the lock; empty if it is free."""
    with suppress(FileNotFoundError):
        lock = os.open(profile / LOCK, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            found = fcntl.fcntl(lock, fcntl.F_OFD_GETLK, _WHOLE_FILE)
            if struct.unpack(_STRUCT_FLOCK, found)[0] != fcntl.F_UNLCK:
                return _holder(lock) or "?"
        finally:
            os.close(lock)
    return ""


def _holder(lock: int) -> str:
    return os.pread(lock, LONGEST_HOLDER, 0).decode(errors="replace")
