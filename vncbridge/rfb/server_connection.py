"""One connection to an RFB server, with bounded memory."""

import asyncio
import socket
from asyncio.transports import BaseTransport, Transport
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Self, cast

from deskhand.vncbridge.errors import UpstreamUnavailable

CONNECT_SECONDS = 10.0
AGAIN_SECONDS = 0.01
HANG_UP_SECONDS = 1.0


class ServerConnection(asyncio.Protocol):
    """Holds at most one read, 256 KiB, and reads again when that is asked for.

    Beside asyncio's own streams it saves two copies of every byte and their 2 MiB of buffer.
    """

    def __init__(self) -> None:
        self._transport: Transport | None = None
        self._came = b""
        self._ended = False
        self._error: OSError | None = None
        self._wanted: asyncio.Future[None] | None = None
        self._room = asyncio.Event()
        self._room.set()
        self._closed = asyncio.Event()

    @classmethod
    async def to(cls, path: Path) -> Self:
        """Connect to a unix socket.

        Raises:
            UpstreamUnavailable: If nobody listens there.
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
            stack.pop_all()
        _, line = await asyncio.get_running_loop().create_unix_connection(cls, sock=end)
        return line

    @property
    def held(self) -> int:
        """How many bytes wait in either direction."""
        return len(self._came) + self._of().get_write_buffer_size()

    async def read(self) -> bytes:
        """Return what came, nothing at the end.

        Raises:
            OSError: If the connection broke.
        """
        if not self._came and not self._ended:
            self._wanted = asyncio.get_running_loop().create_future()
            self._of().resume_reading()
            await self._wanted
        if self._error is not None and not self._came:
            raise self._error
        found, self._came = self._came, b""
        return found

    def write(self, data: bytes) -> None:
        """Send, as soon as the server takes it."""
        self._of().write(data)

    async def drain(self) -> None:
        """Wait until the server took what was sent, but for a little.

        Raises:
            OSError: If the connection broke.
        """
        await self._room.wait()
        if self._error is not None:
            raise self._error

    async def hang_up(self) -> None:
        """Close, but do not wait for a server that no longer reads."""
        transport = self._of()
        transport.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(HANG_UP_SECONDS):
                await self._closed.wait()
                return
        transport.abort()

    def connection_made(self, transport: BaseTransport) -> None:
        """Begin to read: the greeting may come at once."""
        self._transport = cast(Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Hand it over; where nobody waits for it, keep it and read no more."""
        self._came += data
        if not self._tell():
            self._of().pause_reading()

    def eof_received(self) -> None:
        """Note the end; the transport closes itself."""
        self._ended = True
        self._tell()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wake up whoever waits."""
        self._ended = True
        self._error = exc if isinstance(exc, OSError) else None
        self._tell()
        self._room.set()
        self._closed.set()

    def pause_writing(self) -> None:
        """Note that the server does not take it."""
        self._room.clear()

    def resume_writing(self) -> None:
        """Note that it does again."""
        self._room.set()

    def _tell(self) -> bool:
        """Wake up who reads; return whether somebody does."""
        wanted, self._wanted = self._wanted, None
        if wanted is None or wanted.done():
            return False
        wanted.set_result(None)
        return True

    def _of(self) -> Transport:
        assert self._transport is not None  # noqa: S101 - made by `to`
        return self._transport


async def _connect(end: socket.socket, path: Path) -> None:
    while True:
        try:
            end.connect(str(path))
        # So many are connecting that the server's queue is full. asyncio would take it for a
        # connection that is being made, and the kernel does not tell when there is room.
        except BlockingIOError:
            await asyncio.sleep(AGAIN_SECONDS)
        else:
            return
