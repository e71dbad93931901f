"""Connections to a service: as bytes, and as a WebSocket whose frames the caller reads.

The WebSocket is opened here and not by a library, because a library hands over whole messages: for
a stream of pictures that costs several times the CPU of passing the bytes on.
"""

import asyncio
import base64
import hashlib
import json
import secrets
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from urllib.parse import urlencode, urlsplit

from .errors import UpgradeRefused

UNIX = "unix:"
READ_LIMIT = 1024 * 1024
"""Bytes that are buffered before reading pauses, half of it."""
_PORTS = {"http": 80, "https": 443}
_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
"""Of RFC 6455, section 1.3."""

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Upstream:
    """A service at ``unix:PATH``, ``http://HOST:PORT`` or ``https://HOST``."""

    def __init__(self, address: str, token: str) -> None:
        self._address = address
        self._token = token
        self._tls = ssl.create_default_context() if address.startswith("https:") else None

    @property
    def host(self) -> str:
        """Value of the ``Host`` header."""
        unix = self._address.startswith(UNIX)
        # A unix socket has no host, but the service refuses others than loopback.
        return "localhost" if unix else urlsplit(self._address).netloc

    async def open(self) -> Streams:
        """Open a connection.

        Raises:
            OSError: If the service cannot be reached.
        """
        if self._address.startswith(UNIX):
            path = self._address.removeprefix(UNIX)
            return await asyncio.open_unix_connection(path, limit=READ_LIMIT)
        parts = urlsplit(self._address)
        port = parts.port or _PORTS[parts.scheme]
        return await asyncio.open_connection(parts.hostname, port, ssl=self._tls, limit=READ_LIMIT)

    @asynccontextmanager
    async def websocket(self, path: str, params: Mapping[str, str]) -> AsyncIterator[Streams]:
        """Open a WebSocket and yield the connection, on which frames follow.

        Raises:
            UpgradeRefused: If the service refuses it.
            OSError: If the service cannot be reached.
        """
        reader, writer = await self.open()
        try:
            key = base64.b64encode(secrets.token_bytes(16))
            writer.write(self._upgrade(path, params, key))
            await _accepted(reader, key)
            yield reader, writer
        finally:
            writer.close()

    def _upgrade(self, path: str, params: Mapping[str, str], key: bytes) -> bytes:
        lines = (
            f"GET {path}?{urlencode(params)} HTTP/1.1",
            f"Host: {self.host}",
            f"Authorization: Bearer {self._token}",
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Key: {key.decode()}",
        )
        return "\r\n".join((*lines, "", "")).encode()


async def _accepted(reader: asyncio.StreamReader, key: bytes) -> None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        raise UpgradeRefused("the service does not answer as a WebSocket") from None
    accept = base64.b64encode(hashlib.sha1(key + _GUID, usedforsecurity=False).digest())
    if head.split(b" ", 2)[1:2] != [b"101"]:
        raise UpgradeRefused(_message(await reader.read(READ_LIMIT)))
    if accept not in head:
        raise UpgradeRefused("the service's answer is not that of this WebSocket")


def _message(body: bytes) -> str:
    """Return the text of an error answer."""
    try:
        found = json.loads(body)
        return f"{found['message']} {found.get('detail') or ''}".strip()
    except (ValueError, KeyError, TypeError, AttributeError):
        return "the service refuses the WebSocket"
