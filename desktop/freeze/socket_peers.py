"""Connections to the sockets of X servers: the kernel's list of Unix sockets (sock_diag(7))."""

import socket
import struct

NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY = 4, 20
_REQUEST_DUMP = 0x301
_DONE, _ERROR = 3, 2
_SHOW_NAME_AND_PEER = 1 | 4
_NAME, _PEER = 0, 2
"""Attributes UNIX_DIAG_NAME and UNIX_DIAG_PEER."""
_HEADER, _ATTRIBUTE = struct.Struct("=IHHII"), struct.Struct("=HH")
_QUESTION, _ANSWER = struct.Struct("=BBHIIIII"), struct.Struct("=BBBBIII")
X_SOCKETS = b"/tmp/.X11-unix/X"


def clients_of_displays() -> frozenset[int]:
    """Return the inodes of sockets that are connected to an X server of this network namespace.

    An accepted socket has the name of the one that has accepted it.

    Raises:
        OSError: If the kernel does not report them.
    """
    question = _QUESTION.pack(socket.AF_UNIX, 0, 0, 0xFFFF_FFFF, 0, _SHOW_NAME_AND_PEER, 0, 0)
    head = _HEADER.pack(_HEADER.size + len(question), SOCK_DIAG_BY_FAMILY, _REQUEST_DUMP, 1, 0)
    found = set[int]()
    with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, NETLINK_SOCK_DIAG) as kernel:
        kernel.send(head + question)
        # The kernel ends a list with a message of its own.
        while not read_answers(kernel.recv(1 << 20), found):
            pass
    return frozenset(found)


def read_answers(data: bytes, found: set[int]) -> bool:
    """Add the clients in one datagram of answers to ``found``; return True after the last one.

    Raises:
        OSError: If the kernel refuses the question.
    """
    at = 0
    while at + _HEADER.size <= len(data):
        length, kind, _, _, _ = _HEADER.unpack_from(data, at)
        if kind == _DONE:
            return True
        if kind == _ERROR:
            raise OSError("the kernel does not list sockets")
        attributes = _attributes(data[at + _HEADER.size + _ANSWER.size : at + length])
        peer = attributes.get(_PEER)
        if peer is not None and attributes.get(_NAME, b"").startswith(X_SOCKETS):
            found.add(int.from_bytes(peer, "little"))
        at += _aligned(length)
    return False


def _attributes(data: bytes) -> dict[int, bytes]:
    found, at = dict[int, bytes](), 0
    while at + _ATTRIBUTE.size <= len(data):
        length, kind = _ATTRIBUTE.unpack_from(data, at)
        found[kind] = data[at + _ATTRIBUTE.size : at + length]
        at += max(_aligned(length), _ATTRIBUTE.size)
    return found


def _aligned(length: int) -> int:
    return length + 3 & ~3
