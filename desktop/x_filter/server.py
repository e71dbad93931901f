"""The X server behind the filter: how to connect to it, and what it has."""

import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from deskhand.desktop.x11.sockets import exactly, set_up

from .extension_rules import EXTENSIONS
from .stream import MESSAGE_BYTES

MANAGERS = (b"WM_S0", b"_NET_SYSTEM_TRAY_S0", b"_NET_WM_CM_S0", b"_XSETTINGS_S0")
"""Selections by which a client manages the display (ICCCM, 2.8; EWMH; XSETTINGS)."""
_QUERY_EXTENSION, _INTERN_ATOM = 98, 16


@dataclass(frozen=True)
class Server:
    """An X server that accepts the cookie."""

    path: str
    cookie: bytes
    opcodes: Mapping[bytes, int]
    """Major opcodes of the extensions that clients may use."""
    managers: frozenset[int]
    """Atoms of the selections by which a client manages the display."""

    @classmethod
    def at(cls, path: str, cookie: bytes) -> Self:
        """Ask the server at a socket; wait until it accepts connections.

        Raises:
            OSError: If it refuses the cookie, or ends.
        """
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(path)
            set_up(client, cookie)
            opcodes = {}
            for name in EXTENSIONS:
                present, opcode = struct.unpack_from("8xBB", _asked(client, _QUERY_EXTENSION, name))
                if present:
                    opcodes[name] = opcode
            answers = [_asked(client, _INTERN_ATOM, name) for name in MANAGERS]
        managers = frozenset(struct.unpack_from("<8xI", answer)[0] for answer in answers)
        return cls(path, cookie, opcodes, managers)

    def connect(self) -> socket.socket:
        """Return a new connection, which does not block.

        Raises:
            OSError: If the server has ended.
        """
        client = socket.socket(socket.AF_UNIX)
        try:
            client.connect(self.path)
        except OSError:
            client.close()
            raise
        client.setblocking(False)
        return client


def _asked(client: socket.socket, opcode: int, name: bytes) -> bytes:
    padded = name + bytes(-len(name) % 4)
    head = struct.pack("<BxHHxx", opcode, 2 + len(padded) // 4, len(name))
    client.sendall(head + padded)
    return exactly(client, MESSAGE_BYTES)
