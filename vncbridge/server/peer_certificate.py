"""uvicorn's protocols for a server whose clients show certificates (mutual TLS).

The extension ``deskhand.peer`` of the ASGI scope is the `PeerConnection` of the request. It is the
same object for all requests of a connection, also for the WebSocket that it becomes.
"""

import asyncio
import ssl
from asyncio.transports import BaseTransport
from collections.abc import MutableMapping
from typing import Any, cast

from websockets.http11 import Request

from .http_protocol import LimitedProtocol
from .websocket_protocol import StreamProtocol

EXTENSION = "deskhand.peer"


class PeerConnection:
    """The connection of a client, with the certificate (DER) that it has shown."""

    def __init__(self, transport: asyncio.Transport) -> None:
        secure: ssl.SSLObject | None = transport.get_extra_info("ssl_object")
        self.certificate = None if secure is None else secure.getpeercert(binary_form=True)
        self._transport = transport

    def abort(self) -> None:
        """End the connection at once; its request learns that the client has left."""
        self._transport.abort()


def connection_of(scope: MutableMapping[str, Any]) -> PeerConnection | None:
    """Return the connection of a request; None if the server does not provide it."""
    found: PeerConnection | None = (scope.get("extensions") or {}).get(EXTENSION)
    return found


class CertifiedProtocol(LimitedProtocol):
    """One HTTP connection."""

    _peer: PeerConnection

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Read the certificate, which TLS has verified."""
        self._peer = PeerConnection(transport)
        super().connection_made(transport)

    def on_message_begin(self) -> None:
        """Add the connection to the scope of the request."""
        super().on_message_begin()
        cast(dict[str, object], self.scope["extensions"])[EXTENSION] = self._peer


class CertifiedStreamProtocol(StreamProtocol):
    """One WebSocket connection."""

    _peer: PeerConnection

    def connection_made(self, transport: BaseTransport) -> None:
        """Read the certificate, which TLS has verified."""
        self._peer = PeerConnection(cast(asyncio.Transport, transport))
        super().connection_made(transport)

    def handle_connect(self, event: Request) -> None:
        """Add the connection to the scope; the application has not begun to run."""
        super().handle_connect(event)
        if self.response.status_code == 101:
            extensions: dict[str, Any] = {**(self.scope["extensions"] or {})}
            extensions[EXTENSION] = self._peer
            self.scope["extensions"] = extensions
