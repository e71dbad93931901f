"""One connection to an RFB server, with bounded memory."""

import asyncio
from asyncio.transports import BaseTransport, Transport
from contextlib import suppress
from pathlib import Path
from typing import Self, cast

from .errors import UpstreamUnavailable

HANG_UP_SECONDS = 1.0


class Line(asyncio.Protocol):
    """Holds at most one read, 256 KiB, and reads again when that is asked for.

    Beside asyncio's own streams it saves two copies of every byte and their 2 MiB of buffer.
    """

    def __init__(self) -> None:
        self._transport: Transport | None = None
        self._came = b""
        self._ended = False
        self._error: OSError | None = None
        self._news = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._closed = asyncio.Event()

    @classmethod
    async def to(cls, path: Path) -> Self:
        """Connect to a unix socket.

        Raises:
            UpstreamUnavailable: If nobody listens there.
        """
        loop = asyncio.get_running_loop()
        try:
            _, line = await loop.create_unix_connection(cls, str(path))
        except OSError as error:
            raise UpstreamUnavailable(f"{path.name}: {error.strerror}") from error
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
            self._news.clear()
            self._of().resume_reading()
            await self._news.wait()
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
        """Keep it, and read no more."""
        self._came += data
        self._of().pause_reading()
        self._news.set()

    def eof_received(self) -> None:
        """Note the end; the transport closes itself."""
        self._ended = True
        self._news.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wake up whoever waits."""
        self._ended = True
        self._error = exc if isinstance(exc, OSError) else None
        self._news.set()
        self._room.set()
        self._closed.set()

    def pause_writing(self) -> None:
        """Note that the server does not take it."""
        self._room.clear()

    def resume_writing(self) -> None:
        """Note that it does again."""
        self._room.set()

    def _of(self) -> Transport:
        assert self._transport is not None  # noqa: S101 - made by `to`
        return self._transport
