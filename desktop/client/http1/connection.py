"""One connection to a service, for one request at a time."""

import asyncio

from .response import BrokenResponse, ResponseReader, WholeResponse


class ConnectionLost(Exception):
    """The connection ended before the response."""

    def __init__(self, reason: str, *, has_begun: bool) -> None:
        super().__init__(reason)
        self.has_begun = has_begun
        """True if a part of the response has arrived."""


class Connection(asyncio.Protocol):
    """A connection that asyncio opens; see ``exchange``."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._reader = ResponseReader()
        self._waiting: asyncio.Future[WholeResponse] | None = None
        self._last = 0.0
        self.idle_since = 0.0
        """Time of the event loop at which the last response ended."""

    @property
    def is_open(self) -> bool:
        """False once either side has closed the connection."""
        return self._transport is not None and not self._transport.is_closing()

    async def exchange(self, request: bytes, timeout: float) -> WholeResponse:
        """Send a request and return its response; cancelling closes the connection.

        ``timeout`` are the longest seconds without a byte of the response.

        Raises:
            ConnectionLost: If the connection ends first.
            BrokenResponse: If the response is not HTTP.
            TimeoutError: If nothing comes in time.
        """
        if self._transport is None:
            raise ConnectionLost("the connection is closed", has_begun=False)
        self._reader = ResponseReader()
        self._waiting = waiting = self._loop.create_future()
        self._last = self._loop.time()
        timer = self._loop.call_later(timeout, self._check, waiting, timeout)
        try:
            self._transport.write(request)
            answer: WholeResponse = await waiting
        except BaseException:
            # The service ends what the request began when its connection ends.
            self.close()
            raise
        finally:
            timer.cancel()
            self._waiting = None
        self.idle_since = self._loop.time()
        if not answer.keeps_alive:
            self.close()
        return answer

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
        if self._waiting is None or self._waiting.done():
            self.close()
            return
        try:
            answer = self._reader.feed(data)
        except BrokenResponse as error:
            self._waiting.set_exception(error)
            return
        if answer is not None:
            self._waiting.set_result(answer)

    def connection_lost(self, error: Exception | None) -> None:
        """End the request that waits, if there is one."""
        self._transport = None
        if self._waiting is None or self._waiting.done():
            return
        answer = self._reader.end() if error is None else None
        if answer is not None:
            self._waiting.set_result(answer)
            return
        reason = str(error or "") or "the connection was broken off"
        self._waiting.set_exception(ConnectionLost(reason, has_begun=self._reader.has_begun))

    def _check(self, waiting: "asyncio.Future[WholeResponse]", timeout: float) -> None:
        """End a request that has waited too long; ``waiting`` is its future."""
        if waiting.done() or self._waiting is not waiting:
            return
        left = self._last + timeout - self._loop.time()
        if left > 0:
            self._loop.call_later(left, self._check, waiting, timeout)
        else:
            waiting.set_exception(TimeoutError())
