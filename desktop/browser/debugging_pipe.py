"""Owner of the browser's debugging pipe: reads and writes it, and hands messages to clients.

The service makes both pipes and keeps one end of each; the browser gets the others as descriptors 3
and 4. Nothing is sent until a client connects or a responder is added. The pipe ends with the
browser, or when its bytes are no messages; then all clients get the end of their messages.
"""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Protocol, Self

from .multiplexer import PipeMultiplexer
from .pipe_messages import Message, PipeBroken, PipeReader, framed

logger = logging.getLogger(__name__)

MOST_WAITING = 1_000
"""Messages that a client may leave unread; one that leaves more is disconnected."""
_READ_SIZE = 262_144


@dataclass(frozen=True)
class BrowserEnds:
    """The descriptors for the browser; `close` them when it has started."""

    requests: int
    """For its descriptor 3."""
    answers: int
    """For its descriptor 4."""

    def close(self) -> None:
        """Close both."""
        os.close(self.requests)
        os.close(self.answers)


class PipeResponder(Protocol):
    """A client within the service, which only answers what the browser sends."""

    def begin(self) -> Iterable[Message]:
        """Return the first requests."""

    def received(self, message: Message) -> Iterable[Message]:
        """Return the requests that follow from an event or an answer."""


class BrowserPipes:
    """Debugging pipes of one desktop's browsers: one for each start. Belongs to one event loop.

    A start that only hands its page to the browser that runs already ends at once, and its pipe
    with it. ``responders`` makes the responders of each pipe.
    """

    def __init__(self, responders: Callable[[], Iterable[PipeResponder]] = tuple) -> None:
        self._responders = responders
        self._opened: list[DebuggingPipe] = []

    @property
    def current(self) -> "DebuggingPipe | None":
        """The pipe of the browser that runs, the oldest one that is open; None if none is."""
        self._opened = [pipe for pipe in self._opened if not pipe.closed]
        return next(iter(self._opened), None)

    @contextmanager
    def handed_over(self) -> Iterator[tuple[int, int]]:
        """Open a pipe; yield the browser's ends, which are closed when it has started."""
        pipe = DebuggingPipe()
        ends = pipe.open()
        self._opened = [*(one for one in self._opened if not one.closed), pipe.__enter__()]
        for responder in self._responders():
            pipe.add_responder(responder)
        try:
            yield ends.requests, ends.answers
        except BaseException:
            pipe.close()
            raise
        finally:
            ends.close()

    def close(self) -> None:
        """Close all pipes, which ends the browsers."""
        for pipe in self._opened:
            pipe.close()


class PipeClient:
    """One client of a pipe, such as a program that controls the browser for a chat."""

    def __init__(self, pipe: "DebuggingPipe", number: int) -> None:
        self._pipe = pipe
        self._number = number
        self._waiting: asyncio.Queue[Message | None] = asyncio.Queue()

    def send(self, message: Message) -> None:
        """Send a request; its answer comes as a message."""
        self._pipe.request(self._number, message)

    def pause(self, reason: str) -> None:
        """Refuse requests and hold back events, until it is called with an empty reason."""
        self._pipe.multiplexer.pause(self._number, reason)

    async def messages(self) -> AsyncIterator[Message]:
        """Yield answers and events until the pipe ends or the client is closed."""
        while (message := await self._waiting.get()) is not None:
            yield message

    def close(self) -> None:
        """Leave the pipe; the sessions of this client end."""
        self._pipe.disconnect(self._number)

    def deliver(self, message: Message | None) -> bool:
        """Add a message; return False if too many wait already."""
        self._waiting.put_nowait(message)
        return self._waiting.qsize() <= MOST_WAITING


class _RespondingClient:
    """The client of a responder, which leaves nothing unread."""

    def __init__(self, responder: PipeResponder, send: Callable[[Message], None]) -> None:
        self._responder = responder
        self._send = send

    def deliver(self, message: Message | None) -> bool:
        """Send the requests of the responder."""
        for request in () if message is None else self._responder.received(message):
            self._send(request)
        return True


class DebuggingPipe:
    """One pipe, in the event loop in which it was opened; use as ``with``."""

    def __init__(self) -> None:
        self.multiplexer = PipeMultiplexer()
        self._clients: dict[int, PipeClient | _RespondingClient] = {}
        self._reader = PipeReader()
        self._reading = self._writing = -1
        self._unsent = b""
        self._loop: asyncio.AbstractEventLoop

    def __enter__(self) -> Self:
        """Start reading; `open` is called before."""
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._reading, self._on_readable)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close both ends of the service, which the browser takes as a request to end."""
        self.close()

    def open(self) -> BrowserEnds:
        """Make both pipes; return the browser's ends."""
        requests, self._writing = os.pipe2(os.O_CLOEXEC)
        self._reading, answers = os.pipe2(os.O_CLOEXEC)
        # Only the ends of the service: the browser expects its own to block.
        os.set_blocking(self._writing, False)
        os.set_blocking(self._reading, False)
        return BrowserEnds(requests, answers)

    @property
    def closed(self) -> bool:
        """True after the end of the pipe."""
        return self._reading < 0

    def connect(self) -> PipeClient:
        """Return a new client."""
        number = self.multiplexer.join()
        client = self._clients[number] = PipeClient(self, number)
        if self.closed:
            client.deliver(None)
        return client

    def add_responder(self, responder: PipeResponder) -> None:
        """Send the requests of a responder until the pipe ends."""
        number = self.multiplexer.join()
        send = partial(self.request, number)
        self._clients[number] = _RespondingClient(responder, send)
        for request in responder.begin():
            send(request)

    def request(self, number: int, message: Message) -> None:
        """Send the request of a client, or answer it."""
        forwarding = self.multiplexer.requested(number, message)
        if forwarding.client is not None:
            self._deliver(number, forwarding.client)
        if forwarding.browser is not None:
            self._send(forwarding.browser)

    def disconnect(self, number: int) -> None:
        """End a client; twice is fine."""
        client = self._clients.pop(number, None)
        if client is None:
            return
        for message in self.multiplexer.leave(number):
            self._send(message)
        client.deliver(None)

    def close(self) -> None:
        """End the pipe; twice is fine."""
        if self.closed:
            return
        self._loop.remove_reader(self._reading)
        self._loop.remove_writer(self._writing)
        for descriptor in (self._reading, self._writing):
            os.close(descriptor)
        self._reading = self._writing = -1
        for client in self._clients.values():
            client.deliver(None)

    def _on_readable(self) -> None:
        try:
            data = os.read(self._reading, _READ_SIZE)
            messages = self._reader.feed(data)
        except BlockingIOError:
            return
        except PipeBroken as error:
            logger.warning("the browser's debugging pipe ends: %s", error)
            self.close()
            return
        for message in messages:
            for delivery in self.multiplexer.received(message):
                self._deliver(delivery.client, delivery.message)
        if not data:
            self.close()

    def _deliver(self, number: int, message: Message) -> None:
        client = self._clients.get(number)
        if client is not None and not client.deliver(message):
            logger.warning("a client of the browser's debugging pipe reads too slowly")
            self.disconnect(number)

    def _send(self, message: Message) -> None:
        if self.closed:
            return
        waiting = bool(self._unsent)
        self._unsent += framed(message)
        if not waiting:
            self._loop.add_writer(self._writing, self._on_writable)
            self._on_writable()

    def _on_writable(self) -> None:
        with suppress(BlockingIOError):
            try:
                written = os.write(self._writing, self._unsent)
            except BrokenPipeError:
                self.close()
                return
            self._unsent = self._unsent[written:]
        if not self._unsent:
            self._loop.remove_writer(self._writing)
