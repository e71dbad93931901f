"""One connection to a service, for one request at a time.

`begin` sends a request and returns the head of its response; `piece` and `rest` return the content.
The content is received only as fast as it is taken, and a request's content is sent only as fast as
the service reads it. Whatever ends a call before the end of the response closes the connection: the
service ends what the request began when its connection ends.
"""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from .request import LAST_CHUNK, framed
from .response import BrokenResponse, ResponseHead, ResponseReader

MOST_WAITING = 512 * 1024
"""Bytes of content that are received before the first of them is taken."""

Upload = AsyncGenerator[bytes, None]
"""Pieces of the content of a request."""


class ConnectionLost(Exception):
    """The connection ended before the response."""

    def __init__(self, reason: str, *, has_begun: bool) -> None:
        super().__init__(reason)
        self.has_begun = has_begun
        """True if a part of the response has arrived."""


class Connection(asyncio.Protocol):
    """A connection that asyncio opens."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._reader = ResponseReader()
        self._is_used = False
        self._is_cut = False
        self._takes_all = False
        self._is_full = False
        self._is_paused = False
        self._end: Exception | None = None
        self._reached: Callable[[], bool] = bool
        self._waiting: asyncio.Future[None] | None = None
        self._last = 0.0
        self.idle_since = 0.0
        """Time of the event loop at which the last response ended."""

    @property
    def is_open(self) -> bool:
        """False once either side has closed the connection."""
        return self._transport is not None and not self._transport.is_closing()

    @property
    def certificate(self) -> bytes | None:
        """The certificate of the service (DER), None without TLS and once the connection ended."""
        if self._transport is None:
            return None
        secure: ssl.SSLObject | None = self._transport.get_extra_info("ssl_object")
        return None if secure is None else secure.getpeercert(binary_form=True)

    async def begin(
        self,
        request: bytes,
        timeout: float | None,
        *,
        upload: Upload | None = None,
        is_chunked: bool = True,
        has_content: bool = True,
    ) -> ResponseHead:
        """Send a request and return the head of its response; cancelling closes the connection.

        ``timeout`` are the longest seconds without a byte of the response. ``upload`` is sent
        behind the request, in chunks or as it is, until the service has answered.

        Raises:
            ConnectionLost: If the connection ends first.
            BrokenResponse: If the response is not HTTP.
            TimeoutError: If nothing comes in time.
        """
        if self._transport is None:
            raise ConnectionLost("the connection is closed", has_begun=False)
        self._reader = ResponseReader(has_content=has_content)
        self._is_used = True
        try:
            self._transport.write(request)
            if upload is not None:
                async with aclosing(upload):
                    await self._send(upload, is_chunked)
            await self._until(self._has_head, timeout)
        except BaseException:
            self.close()
            raise
        assert self._reader.head is not None  # noqa: S101 - the condition of the wait
        return self._reader.head

    async def piece(self, timeout: float | None = None) -> bytes:
        """Return the next bytes of the content, none at its end; raises as `begin`."""
        return await self._taken(self._has_piece, timeout)

    async def rest(self, timeout: float | None = None) -> bytes:
        """Return all content that was not returned before; raises as `begin`."""
        self._takes_all = True
        try:
            return await self._taken(self._has_end, timeout)
        finally:
            self._takes_all = False

    def finish(self) -> bool:
        """End the use by a request; return True if the connection can serve another one."""
        self._is_used = False
        self.idle_since = self._loop.time()
        reader = self._reader
        keeps_alive = reader.head is not None and reader.head.keeps_alive
        # What is left of a request that was cut would be read as the begin of the next one.
        if not (keeps_alive and reader.is_complete) or self._is_cut:
            self.close()
        return self.is_open

    def close(self) -> None:
        """Close the connection at once; twice is fine."""
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - of a stream
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Read a part of the response; without a request it is a violation of the protocol."""
        self._last = self._loop.time()
        if not self._is_used:
            self.close()
            return
        try:
            self._reader.feed(data)
        except BrokenResponse as error:
            self._end = error
            self.close()
        if self._reader.waiting > MOST_WAITING and not self._takes_all:
            self._pause()
        self._check()

    def eof_received(self) -> None:
        """End a response whose end is that of the connection; the transport closes itself."""
        self._reader.end()

    def connection_lost(self, error: Exception | None) -> None:
        """End the request that waits, if there is one."""
        self._transport = None
        if self._end is None:
            reason = str(error or "") or "the connection was broken off"
            self._end = ConnectionLost(reason, has_begun=self._reader.has_begun)
            self._end.__cause__ = error
        self._check()

    def pause_writing(self) -> None:
        """Stop sending: the service does not read."""
        self._is_full = True

    def resume_writing(self) -> None:
        """Go on sending."""
        self._is_full = False
        self._check()

    async def _send(self, upload: Upload, is_chunked: bool) -> None:
        async for data in upload:
            # A service may answer and close the connection before it has read everything. What it
            # sent is received first: a failed write would drop it.
            await asyncio.sleep(0)
            if not self._may_send():
                self._is_cut = True
                return
            if data:
                self._write(framed(data) if is_chunked else data)
                await self._until(self._is_writable, None)
        if is_chunked:
            self._write(LAST_CHUNK)

    def _write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)

    async def _taken(self, reached: Callable[[], bool], timeout: float | None) -> bytes:
        try:
            await self._until(reached, timeout)
        except BaseException:
            self.close()
            raise
        data = self._reader.take()
        self._resume()
        return data

    async def _until(self, reached: Callable[[], bool], timeout: float | None) -> None:
        """Wait until a condition holds, or raise what ends the connection before."""
        if reached():
            return
        if self._end is not None:
            raise self._end
        self._reached, self._waiting = reached, self._loop.create_future()
        self._last = self._loop.time()
        timer = None if timeout is None else self._timer(self._waiting, timeout, timeout)
        if self._takes_all:
            self._resume()
        try:
            await self._waiting
        finally:
            if timer is not None:
                timer.cancel()
            self._waiting = None

    def _check(self) -> None:
        waiting = self._waiting
        if waiting is None or waiting.done():
            return
        if self._reached():
            waiting.set_result(None)
        elif self._end is not None:
            waiting.set_exception(self._end)

    def _timer(
        self, waiting: "asyncio.Future[None]", timeout: float, delay: float
    ) -> asyncio.TimerHandle:
        return self._loop.call_later(delay, self._overdue, waiting, timeout)

    def _overdue(self, waiting: "asyncio.Future[None]", timeout: float) -> None:
        """End a wait that is too long."""
        if waiting.done() or self._waiting is not waiting:
            return
        left = self._last + timeout - self._loop.time()
        if left > 0:
            self._timer(waiting, timeout, left)
        else:
            waiting.set_exception(TimeoutError())

    def _pause(self) -> None:
        if self._transport is not None and not self._is_paused:
            self._is_paused = True
            self._transport.pause_reading()

    def _resume(self) -> None:
        if self._is_paused:
            self._is_paused = False
            if self._transport is not None:
                self._transport.resume_reading()

    def _may_send(self) -> bool:
        return self._reader.head is None and self._end is None

    def _is_writable(self) -> bool:
        return not self._is_full or not self._may_send()

    def _has_head(self) -> bool:
        return self._reader.head is not None

    def _has_piece(self) -> bool:
        return self._reader.waiting > 0 or self._reader.is_complete

    def _has_end(self) -> bool:
        return self._reader.is_complete
