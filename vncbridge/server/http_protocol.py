"""uvicorn's HTTP protocol with the limits of `connection_limits`.

The application calls `mark_proven` for a request with a valid credential: its connection then
counts no longer. A request with an absolute target (RFC 9112 section 3.2.2) gets the host of its
target as its ``Host`` header, as the application checks that header only.
"""

import asyncio
from collections.abc import MutableMapping
from typing import Any, cast
from urllib.parse import urlsplit

import uvicorn
from starlette.types import ASGIApp

from .connection_limits import ConnectionLimits, UnprovenConnections, peer_of
from .header_limit import HeaderSizeLimit

EXTENSION = "deskhand.connection"
TOO_LATE = b"The request was not complete in time."


class ServerConfig(uvicorn.Config):
    """uvicorn's configuration with the connections that are limited."""

    def __init__(self, app: ASGIApp, limits: ConnectionLimits, **options: Any) -> None:
        super().__init__(app, **options)
        self.limits = limits
        self.unproven: UnprovenConnections[LimitedProtocol] = UnprovenConnections(limits)


def mark_proven(scope: MutableMapping[str, Any]) -> None:
    """Record that a request has shown a valid credential."""
    mark = (scope.get("extensions") or {}).get(EXTENSION, {}).get("prove")
    if mark is not None:
        mark()


class LimitedProtocol(HeaderSizeLimit):
    """One connection, closed when it is too slow or one of too many without a credential."""

    _late: asyncio.TimerHandle | None = None
    _upgraded = False
    """True when the connection belongs to the WebSocket protocol, which has no time for headers."""

    @property
    def _own_config(self) -> ServerConfig:
        return cast(ServerConfig, self.config)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection; it may be closed at once, or another one."""
        super().connection_made(transport)
        self._start_timer()
        peer = peer_of(self.client[0]) if self.client else ""
        _close(self._own_config.unproven.add(self, peer))

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop counting the connection."""
        self._stop_timer()
        self._own_config.unproven.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse bytes; those between two requests count as the begin of the next one."""
        super().data_received(data)
        if self._upgraded:
            return
        # Any byte ends uvicorn's keep-alive timer, also one that begins no request.
        is_idle = self.cycle is None or self.cycle.response_complete
        if is_idle and self.timeout_keep_alive_task is None and not self.transport.is_closing():
            self._start_timer()

    def on_message_begin(self) -> None:
        """Start the time for the headers."""
        super().on_message_begin()
        self._start_timer()
        self.scope["extensions"] = {EXTENSION: {"prove": self._prove}}

    def on_headers_complete(self) -> None:
        """Stop the time for the headers; begin the request."""
        self._stop_timer()
        self._use_host_of_target()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Record that the request is complete."""
        super().on_message_complete()
        self._own_config.unproven.work(self)

    def on_response_complete(self) -> None:
        """Record that the next step is the client's."""
        super().on_response_complete()
        if not self.pipeline and not self.transport.is_closing():
            _close(self._own_config.unproven.wait(self))

    def handle_websocket_upgrade(self) -> None:
        """Give the connection to the WebSocket protocol: it is refused or proven at once."""
        self._upgraded = True
        self._stop_timer()
        self._own_config.unproven.remove(self)
        super().handle_websocket_upgrade()

    def _prove(self) -> None:
        self._own_config.unproven.remove(self)

    def _use_host_of_target(self) -> None:
        if self.url.startswith(b"/"):
            return
        host = urlsplit(self.url.decode("latin-1")).netloc
        given = [index for index, (name, _) in enumerate(self.headers) if name == b"host"]
        # Of two headers none is valid: the application refuses the request.
        if host and len(given) <= 1:
            for index in given:
                del self.headers[index]
            self.headers.append((b"host", host.encode("latin-1")))

    def _start_timer(self) -> None:
        if self._late is None:
            seconds = self._own_config.limits.head_seconds
            self._late = self.loop.call_later(seconds, self._end_late)

    def _stop_timer(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _end_late(self) -> None:
        self._late = None
        if self.transport.is_closing():
            return
        if self.cycle is not None and not self.cycle.response_complete:
            # A second answer would end up inside of the one that is being sent.
            self._start_timer()
        elif self._open:
            self._send_408()
        else:
            self.transport.close()

    def _send_408(self) -> None:
        length = str(len(TOO_LATE)).encode()
        head = b"HTTP/1.1 408 Request Timeout\r\ncontent-type: text/plain; charset=utf-8\r\n"
        end = b"content-length: " + length + b"\r\nconnection: close\r\n\r\n"
        self.transport.write(head + end + TOO_LATE)
        self.transport.close()


def _close(connection: LimitedProtocol | None) -> None:
    if connection is not None:
        connection.transport.abort()
