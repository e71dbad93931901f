"""The connections to one service: kept open, and opened as many as requests run side by side.

A request takes the connection that was used last. The service closes a connection that was idle for
5 s; one that was idle for almost as long is not used again, because the service may close it while
a request is on its way.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
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


class Connections:
    """Connections to a Unix socket, or to a host and port."""

    def __init__(self, place: Path | tuple[str, int], heads: RequestHeads) -> None:
        self._place = place
        self._heads = heads
        self._idle: list[Connection] = []
        self._open: set[Connection] = set()

    async def request(self, request: ClientRequest, timeout: float) -> WholeResponse:
        """Send a request and return its response; cancelling ends the request at the service.

        A GET or HEAD is sent once more if an idle connection turns out to be closed.

        Raises:
            OSError: If the service cannot be reached; `TimeoutError` if it does not answer in time.
            ConnectionLost: If it breaks off.
            BrokenResponse: If it does not answer with HTTP.
            ValueError: If a field contains the end of a line, or a character beyond Latin-1.
        """
        connection, head = await self._begun(request, timeout)
        try:
            return WholeResponse(head, await connection.rest(timeout))
        finally:
            self._release(connection)

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
            self._release(connection)

    def close(self) -> None:
        """Close all connections; requests end with `ConnectionLost`."""
        for connection in list(self._open):
            connection.close()
        self._open.clear()
        self._idle.clear()

    def _taken(self) -> Connection | None:
        oldest = asyncio.get_running_loop().time() - LONGEST_IDLE_SECONDS
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open and connection.idle_since >= oldest:
                return connection
            self._drop(connection)
        return None

    async def _begun(
        self, request: ClientRequest, timeout: float | None, upload: Upload | None = None
    ) -> tuple[Connection, ResponseHead]:
        data = self._heads.encoded(request)
        connection = self._taken()
        if connection is not None:
            try:
                return connection, await self._begin(connection, data, request, timeout, upload)
            except ConnectionLost as error:
                if error.has_begun or request.method not in ("GET", "HEAD") or upload is not None:
                    raise
        connection = await self._opened(timeout)
        return connection, await self._begin(connection, data, request, timeout, upload)

    async def _begin(
        self,
        connection: Connection,
        data: bytes,
        request: ClientRequest,
        timeout: float | None,
        upload: Upload | None,
    ) -> ResponseHead:
        try:
            return await connection.begin(
                data,
                timeout,
                upload=upload,
                is_chunked=request.is_chunked,
                has_content=request.method != "HEAD",
            )
        except BaseException:
            self._drop(connection)
            raise

    async def _opened(self, timeout: float | None) -> Connection:
        loop = asyncio.get_running_loop()
        longest = CONNECT_SECONDS if timeout is None else min(timeout, CONNECT_SECONDS)
        async with asyncio.timeout(longest):
            if isinstance(self._place, Path):
                _, connection = await loop.create_unix_connection(Connection, str(self._place))
            else:
                _, connection = await loop.create_connection(Connection, *self._place)
        self._open.add(connection)
        return connection

    def _release(self, connection: Connection) -> None:
        """Keep a connection for the next request if it can serve one."""
        if connection.finish() and len(self._idle) < MOST_IDLE:
            self._idle.append(connection)
        else:
            self._drop(connection)

    def _drop(self, connection: Connection) -> None:
        connection.close()
        self._open.discard(connection)


def connections_to(
    address: str, unix_socket: str | None, fields: Mapping[str, str]
) -> Connections | None:
    """Return connections to a service on this machine without TLS, None to any other.

    Requests to others may pass proxies, whose responses need a whole HTTP client. ``fields`` are
    those of all requests.
    """
    parts = urlsplit(address)
    host = parts.hostname or ""
    heads = RequestHeads(parts.netloc, parts.path, fields)
    if unix_socket is not None:
        return Connections(Path(unix_socket), heads)
    if parts.scheme != "http" or not is_loopback(host):
        return None
    return Connections((host, parts.port or 80), heads)
