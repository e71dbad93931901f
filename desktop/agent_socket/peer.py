"""The process at the other end of a Unix socket, and its ancestors (unix(7), proc(5))."""

import os
import select
import socket
import struct
from contextlib import suppress
from dataclasses import dataclass

from .ancestry import ProcessLink

SO_PEERPIDFD = 77
"""Of <asm-generic/socket.h>, since Linux 6.5; Python has no name for it."""
MOST_ANCESTORS = 1_000
_CREDENTIALS = "3i"
_ATTEMPTS = 3
# Fields of /proc/PID/stat after the name, which is in parentheses and may contain blanks.
_PARENT, _STARTED = 1, 19


@dataclass(frozen=True)
class Peer:
    """The process that called connect(2); ``close`` the pidfd."""

    pid: int
    pidfd: int
    uid: int = -1
    """User at the time of connect(2)."""

    def lives(self) -> bool:
        """Return True until the process has ended: until then its pid is not another one's."""
        return not select.select([self.pidfd], [], [], 0)[0]

    def ancestry(self) -> tuple[ProcessLink, ...]:
        """Return the process and its ancestors; nothing if it has ended.

        The chain is read twice: in a chain that did not change meanwhile no process was replaced.
        """
        for _ in range(_ATTEMPTS):
            first = _chain(self.pid)
            if first == _chain(self.pid) and self.lives():
                return first
        return ()

    def close(self) -> None:
        """Close the pidfd."""
        os.close(self.pidfd)


def peer_of(connection: socket.socket) -> Peer:
    """Return the process at the other end.

    Raises:
        OSError: If it has ended.
    """
    size = struct.calcsize(_CREDENTIALS)
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    pid, uid, _ = struct.unpack(_CREDENTIALS, credentials)
    # The kernel's own pidfd names the process that connected even if its pid was reused since.
    with suppress(OSError):
        return Peer(pid, connection.getsockopt(socket.SOL_SOCKET, SO_PEERPIDFD), uid)
    return Peer(pid, os.pidfd_open(pid), uid)


def _chain(pid: int) -> tuple[ProcessLink, ...]:
    found: list[ProcessLink] = []
    while pid > 0 and len(found) < MOST_ANCESTORS:
        one = _link(pid)
        if one is None:
            break
        link, pid = one
        found.append(link)
    return tuple(found)


def _link(pid: int) -> tuple[ProcessLink, int] | None:
    with suppress(OSError, ValueError, IndexError):
        descriptor = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
        try:
            data = os.read(descriptor, 4096)
        finally:
            os.close(descriptor)
        fields = data[data.rindex(b")") + 2 :].split()
        return ProcessLink(pid, int(fields[_STARTED])), int(fields[_PARENT])
    return None
