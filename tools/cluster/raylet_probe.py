"""A probe of Ray's process on a node: whether it answers at all.

A process that was stopped still has its connections accepted by the kernel, and Ray takes a minute
to declare its node dead. Until then Ray waits for it with all reservations, also those on other
nodes. So a node gets none before its process has answered: to the preface of HTTP/2, which gRPC
uses, with its settings (RFC 9113, section 3.4), or with TLS to the begin of a handshake.
"""

import socket
import ssl
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

SECONDS = 1.0
_EMPTY_SETTINGS = b"\0\0\0\x04\0\0\0\0\0"
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + _EMPTY_SETTINGS
_SETTINGS_TYPE = 4
_MOST_AT_ONCE = 32

Place = tuple[str, int]


def answers(place: Place, *, tls: bool = False, seconds: float = SECONDS) -> bool:
    """Return whether the process at a host and port answers within so many seconds."""
    with suppress(OSError), socket.create_connection(place, seconds) as connection:
        connection.settimeout(seconds)
        return _shakes_hands(connection) if tls else _has_settings(connection)
    return False


def answering(places: Iterable[Place], *, tls: bool = False) -> frozenset[Place]:
    """Return those of the places whose processes answer; all are asked at once."""
    asked = tuple(places)
    if not asked:
        return frozenset()
    with ThreadPoolExecutor(min(len(asked), _MOST_AT_ONCE), "raylet probe") as threads:
        found = threads.map(lambda place: answers(place, tls=tls), asked)
        return frozenset(place for place, is_good in zip(asked, found, strict=True) if is_good)


def _has_settings(connection: socket.socket) -> bool:
    connection.sendall(_PREFACE)
    # A frame begins with its length in three bytes and its type.
    head = b""
    while len(head) < 4:
        data = connection.recv(4 - len(head))
        if not data:
            return False
        head += data
    return head[3] == _SETTINGS_TYPE


def _shakes_hands(connection: socket.socket) -> bool:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # Any answer will do, also that our certificate is missing; Ray itself verifies its peers.
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with context.wrap_socket(connection):
            return True
    except TimeoutError:
        return False
    except ssl.SSLError:
        return True
