"""The sockets of X clients and servers as bytes, where no library speaks the protocol."""

import select
import socket
import struct
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

from .x_setup import with_cookie

_LITTLE_ENDIAN_11_0 = b"l\0\x0b" + bytes(9)
_UCRED = struct.Struct("3i")


class SocketPeer(NamedTuple):
    """A process that has connected to a Unix socket, and its user."""

    process: int
    user: int


def set_up(client: socket.socket, cookie: bytes) -> None:
    """Set up the connection of a little-endian client.

    Raises:
        ConnectionRefusedError: If the server refuses the cookie.
        OSError: If it does not answer.
    """
    client.sendall(with_cookie(_LITTLE_ENDIAN_11_0, cookie))
    accepted, units = struct.unpack("<B5xH", exactly(client, 8))
    if accepted != 1:
        raise ConnectionRefusedError("X refused the cookie")
    # All of it is read, as the next bytes are taken for replies; its length is in units of 4 bytes
    # (X11 protocol, connection setup).
    exactly(client, 4 * units)


def exactly(end: socket.socket, length: int) -> bytes:
    """Return the next bytes of a stream.

    Raises:
        ConnectionError: If the other side closes it before all have come.
    """
    found = b""
    while len(found) < length:
        piece = end.recv(length - len(found))
        if not piece:
            raise ConnectionError("the other side hung up")
        found += piece
    return found


def peer_of(client: socket.socket) -> SocketPeer:
    """Return the process that connected (SO_PEERCRED, unix(7))."""
    found = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size)
    return SocketPeer(*_UCRED.unpack(found)[:2])


def listening(path: Path, mode: int, backlog: int) -> socket.socket:
    """Return a socket that listens at a path, with these permissions; the caller closes it.

    Raises:
        OSError: If the path exists, or cannot be made.
    """
    with ExitStack() as stack:
        listener = stack.enter_context(socket.socket(socket.AF_UNIX))
        listener.bind(str(path))
        path.chmod(mode)
        listener.listen(backlog)
        stack.pop_all()
    return listener


def await_client(listener: socket.socket) -> None:
    """Wait until a client has connected, which stays in the backlog, or `end_listening`."""
    # poll(2) reports a connection and leaves it in the backlog, unlike accept(2).
    poll = select.poll()
    poll.register(listener, select.POLLIN)
    poll.poll()


def end_listening(listener: socket.socket) -> None:
    """Close a listening socket, also while a thread waits for its clients."""
    # shutdown(2) wakes the thread, close(2) does not.
    with suppress(OSError):
        listener.shutdown(socket.SHUT_RDWR)
    listener.close()
