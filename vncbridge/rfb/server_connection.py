"""One connection to an RFB server, with bounded memory."""

import asyncio
import socket
from asyncio.transports import BaseTransport, Transport
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Self, cast

from deskhand.vncbridge.errors import UpstreamUnavailable

CONNECT_SECONDS = 10.0
RETRY_SECONDS = 0.01
CLOSE_SECONDS = 1.0


class ServerConnection(asyncio.Protocol):
    """Holds at most one read, 256 KiB, and reads again only when `read` is called.

    Compared with asyncio's streams it saves two copies of every byte and 2 MiB of buffers.
    """

    def __init__(self) -> None:
        self._transport: Transport | None = None
        self._received = b""
        self._ended = False
        self._error: OSError | None = None
        self._reader: asyncio.Future[None] | None = None
        self._room = asyncio.Event()
        self._room.set()
        self._closed = asyncio.Event()

    @classmethod
    async def to(cls, path: Path) -> Self:
        """Connect to a unix socket.

        Raises:
            UpstreamUnavailable: If no server listens there.
        """
        with ExitStack() as stack:
            end = stack.enter_context(socket.socket(socket.AF_UNIX))
            end.setblocking(False)
            try:
                async with asyncio.timeout(CONNECT_SECONDS):
                    await _connect(end, path)
            except OSError as error:
                reason = error.strerror or "It does not answer"
                raise UpstreamUnavailable(f"{path.name}: {reason}") from error
            # From here on the transport owns the socket.
            stack.pop_all()
        _, connection = await asyncio.get_running_loop().create_unix_connection(cls, sock=end)
        return connection

    @property
    def held(self) -> int:
        """Bytes that are buffered, in both directions."""
        return len(self._received) + self._of().get_write_buffer_size()

    async def read(self) -> bytes:
        """Return the bytes that arrived; empty at the end of the stream.

        Raises:
            OSError: If the connection broke.
        """
        if not self._received and not self._ended:
            self._reader = asyncio.get_running_loop().create_future()
            self._of().resume_reading()
            await self._reader
        # Bytes that came before the error are returned first.
        if self._error is not None and not self._received:
            raise self._error
        found, self._received = self._received, b""
        return found

    def write(self, data: bytes) -> None:
        """Queue bytes; they are sent when the server reads them."""
        self._of().write(data)

    async def drain(self) -> None:
        """Wait until the write buffer is below its limit.

        Raises:
            OSError: If the connection broke.
        """
        await self._room.wait()
        if self._error is not None:
            raise self._error

    async def close(self) -> None:
        """Close the connection; abort it if the server does not read the rest."""
        transport = self._of()
        transport.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._closed.wait()
                return
        transport.abort()

    def connection_made(self, transport: BaseTransport) -> None:
        """Keep the transport, which is reading already: the server sends first."""
        self._transport = cast(Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Wake up the reader; without one, keep the bytes and pause reading."""
        self._received += data
        if not self._wake():
            self._of().pause_reading()

    def eof_received(self) -> None:
        """Record the end of the stream; the transport closes itself."""
        self._ended = True
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wake up the reader and the writer."""
        self._ended = True
        self._error = exc if isinstance(exc, OSError) else None
        self._wake()
        self._room.set()
        self._closed.set()

    def pause_writing(self) -> None:
        """Make `drain` wait: the write buffer is full."""
        self._room.clear()

    def resume_writing(self) -> None:
        """Let `drain` return: the write buffer has room."""
        self._room.set()

    def _wake(self) -> bool:
        """Wake up the reader; return whether there is one."""
        reader, self._reader = self._reader, None
        if reader is None or reader.done():
            return False
        reader.set_result(None)
        return True

    def _of(self) -> Transport:
        assert self._transport is not None  # noqa: S101 - made by `to`
        return self._transport


async def _connect(end: socket.socket, path: Path) -> None:
    while True:
        try:
            end.connect(str(path))
        # The server's listen queue is full. asyncio would treat EAGAIN as a connection in progress,
        # and the kernel does not report when the queue has room.
        except BlockingIOError:
            await asyncio.sleep(RETRY_SECONDS)
        else:
            return
