"""Sends the events of the moment of this control plane to the others.

    this control plane -- lines --> TLS, both certificates --> each other control plane

Nothing that is sent here is stored, and a control plane that reads slowly delays no other: of the
texts of a chat that wait for it, the newest alone is kept, since a text contains what was written
before. One for which too much waits is disconnected, and connects again.
"""

import asyncio
import logging
import socket
import ssl
from typing import Self

from .errors import PeerRefused
from .moment import MomentaryEvent
from .trust import ClusterTls

log = logging.getLogger(__name__)

ALIVE_SECONDS = 5.0
"""Between two empty lines."""
WRITE_LIMIT = 256 * 1024
"""Bytes in the buffer of a connection from which later events wait."""
MOST_WAITING = 1_000
"""Events that wait for one connection."""


class MomentSender:
    """The connections of other control planes; an async context manager, used after `listen`."""

    def __init__(self, tls: ClusterTls) -> None:
        self._tls = tls
        self._open: set[_Outgoing] = set()
        self._server: asyncio.Server | None = None

    async def listen(self, bound: socket.socket) -> Self:
        """Accept connections on a bound socket."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: _Outgoing(self), sock=bound, ssl=self._tls.server_context
        )
        return self

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
        for connection in tuple(self._open):
            connection.close()
        if self._server is not None:
            await self._server.wait_closed()

    @property
    def connections(self) -> int:
        """Number of control planes that are connected."""
        return len(self._open)

    def send(self, moment: MomentaryEvent) -> None:
        """Send an event to all other control planes."""
        if self._open:
            line = moment.to_line()
            for connection in tuple(self._open):
                connection.send(moment.key, line)

    async def run(self, seconds: float = ALIVE_SECONDS) -> None:
        """Show that connections work, and end those with certificates that are not good any more.

        Never return.
        """
        while True:
            await asyncio.sleep(seconds)
            for connection in tuple(self._open):
                if self.admits(connection):
                    connection.send("", b"\n")
                else:
                    connection.close()

    def admits(self, connection: "_Outgoing") -> bool:
        """Return whether the other end is a control plane of the cluster."""
        try:
            self._tls.check(connection.certificate, "plane")
        except PeerRefused as error:
            log.warning("a control plane gets no events: %s", error)
            return False
        return True

    def add(self, connection: "_Outgoing") -> None:
        """Send the events from now on to a connection, too."""
        self._open.add(connection)

    def forget(self, connection: "_Outgoing") -> None:
        """Send nothing more to a connection that has ended."""
        self._open.discard(connection)


class _Outgoing(asyncio.Protocol):
    """The connection of one control plane, which only reads."""

    def __init__(self, sender: MomentSender) -> None:
        self._sender = sender
        self._transport: asyncio.Transport | None = None
        self._paused = False
        self._waiting: dict[object, bytes] = {}
        self.certificate: bytes | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - of all stream connections
        self._transport = transport
        transport.set_write_buffer_limits(high=WRITE_LIMIT)
        secure: ssl.SSLObject = transport.get_extra_info("ssl_object")
        self.certificate = secure.getpeercert(binary_form=True)
        if self._sender.admits(self):
            self._sender.add(self)
        else:
            transport.abort()

    def send(self, key: str | None, line: bytes) -> None:
        """Send a line now or, while the other end does not read, later."""
        if self._transport is None:
            return
        if not self._paused:
            self._transport.write(line)
            return
        # The newest line of a key comes last: what is between them is about other keys.
        place: object = object() if key is None else key
        self._waiting.pop(place, None)
        self._waiting[place] = line
        if len(self._waiting) > MOST_WAITING:
            log.warning("a control plane reads too slowly and is disconnected")
            self.close()

    def close(self) -> None:
        """Break the connection."""
        if self._transport is not None:
            self._transport.abort()

    def pause_writing(self) -> None:
        self._paused = True

    def resume_writing(self) -> None:
        self._paused = False
        waiting, self._waiting = self._waiting, {}
        for place, line in waiting.items():
            self.send(place if isinstance(place, str) else None, line)

    def connection_lost(self, exc: Exception | None) -> None:
        self._sender.forget(self)
