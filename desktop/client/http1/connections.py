"""The connections to one place: kept open, and opened as many as requests run side by side.

A place may have several services, as a node has desktops: `Connections` are those of one service,
which shares the `ConnectionPool` of its place with the others.

A request takes the connection that was used last. The service closes a connection that was idle for
5 s; one that was idle for almost as long is not used again, because the service may close it while
a request is on its way.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from deskhand.vncbridge.server.loopback import is_loopback

from .connection import Connection, ConnectionLost, Upload
from .open_reply import DirectReply, OpenReply, unavailable
from .request import ClientRequest, RequestHeads
from .response import ResponseHead, WholeResponse

LONGEST_IDLE_SECONDS = 4.0
"""Uvicorn's ``timeout_keep_alive`` is 5 s."""
MOST_IDLE = 20
CONNECT_SECONDS = 10.0


Refusal = Callable[[bytes | None], str | None]
"""Return the reason not to use a service with that certificate (DER), None if there is none."""


@dataclass(frozen=True)
class ServicePlace:
    """A host and port; with ``tls`` the name that its certificate must have."""

    host: str
    port: int
    tls: ssl.SSLContext | None = None
    server_name: str | None = None
    refusal: Refusal | None = None
    """Asked before each request, as a certificate may be revoked after the handshake."""


class ConnectionPool:
    """Connections to a Unix socket, or to a host and port."""

    def __init__(self, place: Path | ServicePlace) -> None:
        self.place = place
        self._idle: list[Connection] = []
        self._open: set[Connection] = set()

    def close(self) -> None:
        """Close all connections; requests end with `ConnectionLost`."""
        for connection in list(self._open):
            connection.close()
        self._open.clear()
        self._idle.clear()

    def taken(self) -> Connection | None:
        """Return an idle connection for a request, None if there is none."""
        oldest = asyncio.get_running_loop().time() - LONGEST_IDLE_SECONDS
        while self._idle:
            connection = self._idle.pop()
            is_fresh = connection.is_open and connection.idle_since >= oldest
            if is_fresh and self._refused(connection) is None:
                return connection
            self.drop(connection)
        return None

    async def opened(self, timeout: float | None) -> Connection:
        """Return a new connection.

        Raises:
            OSError: If it cannot be made, or not in time.
            ConnectionLost: If the certificate of the service is refused.
        """
        loop, place = asyncio.get_running_loop(), self.place
        longest = CONNECT_SECONDS if timeout is None else min(timeout, CONNECT_SECONDS)
        try:
            async with asyncio.timeout(longest):
                if isinstance(place, Path):
                    _, connection = await loop.create_unix_connection(Connection, str(place))
                else:
                    _, connection = await loop.create_connection(
                        *(Connection, place.host, place.port),
                        ssl=place.tls,
                        server_hostname=place.server_name,
                    )
        except TimeoutError as error:
            # A response that is late is another problem, and has a limit of its own.
            raise OSError(f"no connection within {longest:g} s") from error
        self._open.add(connection)
        reason = self._refused(connection)
        if reason is not None:
            self.drop(connection)
            raise ConnectionLost(reason, has_begun=False)
        return connection

    def release(self, connection: Connection) -> None:
        """Keep a connection for the next request if it can serve one."""
        if connection.finish() and len(self._idle) < MOST_IDLE:
            self._idle.append(connection)
        else:
            self.drop(connection)

    def drop(self, connection: Connection) -> None:
        """Close a connection."""
        connection.close()
        self._open.discard(connection)

    def _refused(self, connection: Connection) -> str | None:
        """Return the reason not to send a request there, None if there is none."""
        if isinstance(self.place, Path) or self.place.refusal is None or not connection.is_open:
            # What was closed meanwhile has no certificate any more, and sends nothing.
            return None
        return self.place.refusal(connection.certificate)


class Connections:
    """Requests to one service over the connections of its place."""

    def __init__(self, pool: ConnectionPool, heads: RequestHeads) -> None:
        self._pool = pool
        self._heads = heads
        self._used: set[Connection] = set()
        """Those that requests of this service use now."""
        self._has_ended = False

    async def request(self, request: ClientRequest, timeout: float) -> WholeResponse:
        """Send a request and return its response; cancelling ends the request at the service.

        A GET or HEAD is sent once more if an idle connection turns out to be closed.

        Raises:
            OSError: If the service cannot be reached; `TimeoutError` if it does not answer in time.
            ConnectionLost: If it breaks off, or its certificate is refused.
            BrokenResponse: If it does not answer with HTTP.
            ValueError: If a field contains the end of a line, or a character beyond Latin-1.
        """
        connection, head = await self._begun(request, timeout)
        try:
            return WholeResponse(head, await connection.rest(timeout))
        finally:
            self._used.discard(connection)
            self._pool.release(connection)

    @asynccontextmanager
    async def stream(
        self, request: ClientRequest, upload: Upload | None = None
    ) -> AsyncIterator[OpenReply]:
        """Send a request and yield its answer, with its content to be read.

        Only connecting has a time limit. Leaving the block before the end of the content ends the
        request at the service.

        Raises:
            DesktopUnavailable: If the service does not answer.
        """
        with unavailable():
            connection, head = await self._begun(request, None, upload)
        try:
            yield DirectReply(head, connection)
        finally:
            self._used.discard(connection)
            self._pool.release(connection)

    def close(self) -> None:
        """Close all connections of the place; requests end with `ConnectionLost`."""
        self._pool.close()

    def end(self) -> None:
        """Make no requests any more: those of this service end with `ConnectionLost`.

        Other services at the place keep theirs.
        """
        self._has_ended = True
        for connection in self._used:
            connection.close()

    async def _begun(
        self, request: ClientRequest, timeout: float | None, upload: Upload | None = None
    ) -> tuple[Connection, ResponseHead]:
        self._check()
        data = self._heads.encoded(request)
        connection = self._pool.taken()
        if connection is not None:
            try:
                return connection, await self._begin(connection, data, request, timeout, upload)
            except ConnectionLost as error:
                is_repeatable = request.method in ("GET", "HEAD") and upload is None
                if error.has_begun or not is_repeatable or self._has_ended:
                    raise
        connection = await self._pool.opened(timeout)
        return connection, await self._begin(connection, data, request, timeout, upload)

    def _check(self) -> None:
        if self._has_ended:
            raise ConnectionLost("the client is closed", has_begun=False)

    async def _begin(
        self,
        connection: Connection,
        data: bytes,
        request: ClientRequest,
        timeout: float | None,
        upload: Upload | None,
    ) -> ResponseHead:
        self._used.add(connection)
        try:
            self._check()
            return await connection.begin(
                data,
                timeout,
                upload=upload,
                is_chunked=request.is_chunked,
                has_content=request.method != "HEAD",
            )
        except BaseException:
            self._used.discard(connection)
            self._pool.drop(connection)
            raise


def pool_to(address: str, unix_socket: str | None) -> ConnectionPool | None:
    """Return connections to a service on this machine without TLS, None to any other.

    Requests to others may pass proxies, whose responses need a whole HTTP client.
    """
    if unix_socket is not None:
        return ConnectionPool(Path(unix_socket))
    parts = urlsplit(address)
    host = parts.hostname or ""
    if parts.scheme != "http" or not is_loopback(host):
        return None
    return ConnectionPool(ServicePlace(host, parts.port or 80))


def connections_of(pool: ConnectionPool, address: str, fields: Mapping[str, str]) -> Connections:
    """Return the connections of the service at an address; ``fields`` are in all requests."""
    parts = urlsplit(address)
    return Connections(pool, RequestHeads(parts.netloc, parts.path, fields))
