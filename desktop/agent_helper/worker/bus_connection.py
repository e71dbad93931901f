"""Connections to a D-Bus daemon of the agent, authenticated with the agent's user.

A daemon refuses other users: it takes the user of a connection from SO_PEERCRED (unix(7)), which
is that of the process that called connect(2). The service uses the socket after that.
"""

import os
import socket
from collections.abc import Mapping
from contextlib import ExitStack
from urllib.parse import unquote_to_bytes

SECONDS = 2.0
"""Time for the daemon to answer."""

_LONGEST_LINE = 16_384


def authenticated(address: str) -> socket.socket:
    """Connect to a bus of the form ``unix:path=...`` or ``unix:abstract=...``.

    See "Authentication Protocol" in the D-Bus specification: EXTERNAL with the user's id.

    Raises:
        OSError: If there is no such bus, or it refuses the user.
    """
    last: OSError = OSError(0, "no address of a Unix socket")
    for one in address.split(";"):
        path = _path(one)
        if path is None:
            continue
        with ExitStack() as on_failure:
            connection = on_failure.enter_context(socket.socket(socket.AF_UNIX))
            connection.settimeout(SECONDS)
            try:
                connection.connect(path)
                _authenticate(connection)
            except OSError as error:
                last = error
                continue
            connection.settimeout(None)
            on_failure.pop_all()
            return connection
    raise last


def _path(address: str) -> bytes | None:
    transport, _, fields = address.partition(":")
    if transport != "unix":
        return None
    given: Mapping[str, str] = dict(pair.partition("=")[::2] for pair in fields.split(","))
    if "path" in given:
        return unquote_to_bytes(given["path"])
    if "abstract" in given:
        return b"\0" + unquote_to_bytes(given["abstract"])
    return None


def _authenticate(connection: socket.socket) -> None:
    identity = str(os.geteuid()).encode().hex().encode()
    connection.sendall(b"\0AUTH EXTERNAL " + identity + b"\r\n")
    answer = b""
    while not answer.endswith(b"\r\n"):
        data = connection.recv(4096)
        answer += data
        if not data or len(answer) > _LONGEST_LINE:
            raise ConnectionRefusedError(111, "the message bus does not authenticate this user")
    if not answer.startswith(b"OK "):
        raise ConnectionRefusedError(111, "the message bus refuses this user")
    connection.sendall(b"BEGIN\r\n")
