"""The service's side of the helper: calls, cancellation, and a new process when one has ended.

The agent shares its user with the helper, so it can kill it at any time, and a helper under attack
may send anything. The rules:

* A call is sent once. If the helper ends before the answer, the call fails with `HelperEnded`, and
  is not repeated, because it is not known if it took effect.
* The helper is started again at once, then after pauses that grow while it ends again within a
  minute. Calls that were not sent yet wait for it.
* What is received is checked: unknown messages end the connection. Descriptors of an answer that
  has no caller any more are closed, and its handle is released.
* Closing the socket ends the helper.

States: *running* (a connection), *restarting* (a task that starts the next one), *closed*.
"""

import asyncio
import logging
import os
import socket
import time
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from deskhand.desktop.agent_helper.wire.failures import failure_of
from deskhand.desktop.agent_helper.wire.frames import BrokenFrame, WireFrame, encoded
from deskhand.desktop.agent_helper.wire.messages import (
    Call,
    CallFailed,
    Cancel,
    Completed,
    Release,
    Request,
    request_json,
)

from .answers import AnswerReader, ReceivedAnswer
from .errors import HelperEnded, HelperUnavailable, OperationFailed
from .launch import HelperProcess, StartHelper
from .restarts import pause

Json = dict[str, Any]

logger = logging.getLogger(__name__)

END_SECONDS = 2.0
"""Time that a helper has to end after its socket was closed."""
WAIT_SECONDS = 10.0
"""Time that a call waits for a new helper."""
BLOCKING_SECONDS = 5.0
"""Time that a thread waits for the answer to a call."""
MOST_UNSENT = 32 * 1024 * 1024
"""Bytes of calls that wait in this process for a helper that reads nothing."""


class HelperResource:
    """An open resource of one helper, such as a replacement of a file."""

    def __init__(self, connection: "_Connection", handle: int) -> None:
        self._connection = connection
        self.handle = handle

    @property
    def lost(self) -> bool:
        """True if its helper has ended."""
        return not self._connection.open

    def release(self) -> None:
        """Have the helper close it; call it once."""
        self._connection.send(Release(self.handle))


@dataclass(frozen=True)
class HelperReply:
    """Result of a call; its receiver owns the descriptors and the resource."""

    value: Json
    descriptors: tuple[int, ...] = ()
    resource: HelperResource | None = None

    def descriptor(self) -> int:
        """Return the only descriptor.

        Raises:
            OperationFailed: If there is not exactly one; all are closed.
        """
        if len(self.descriptors) != 1:
            for one in self.descriptors:
                os.close(one)
            raise OperationFailed(f"the helper sent {len(self.descriptors)} descriptors")
        return self.descriptors[0]


class _Connection:
    """One life of the helper, on an event loop."""

    def __init__(self, process: HelperProcess, ended: Callable[["_Connection"], None]) -> None:
        self.process = process
        self._socket: socket.socket = process.connection
        self._reader = AnswerReader(self._socket)
        self._ended = ended
        self._loop = asyncio.get_running_loop()
        self._pending: dict[int, asyncio.Future[HelperReply]] = {}
        self._unsent: deque[memoryview] = deque()
        self._unsent_bytes = 0
        self.open = True
        self._loop.add_reader(self._socket, self._on_readable)

    async def call(self, call: Call) -> HelperReply:
        """Send a call and wait for its answer."""
        future: asyncio.Future[HelperReply] = self._loop.create_future()
        self.send(call)
        self._pending[call.id] = future
        try:
            return await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled() and future.exception() is None:
                self._discard(future.result())
            elif self._pending.pop(call.id, None) is not None:
                self.send(Cancel(call.id))
            raise

    def send(self, request: Request) -> None:
        """Send a request, as far as the socket takes it now.

        Raises:
            HelperUnavailable: For a call, if too many wait for a helper that reads nothing.
        """
        if not self.open:
            return
        if isinstance(request, Call) and self._unsent_bytes > MOST_UNSENT:
            raise HelperUnavailable("it does not read its requests")
        data = memoryview(encoded(WireFrame(request_json(request))))
        self._unsent.append(data)
        self._unsent_bytes += len(data)
        if len(self._unsent) == 1:
            self._on_writable()

    def close(self) -> None:
        """Fail all calls and close the socket, by which the helper ends; twice is fine."""
        if not self.open:
            return
        self.open = False
        self._loop.remove_reader(self._socket)
        self._loop.remove_writer(self._socket)
        self._socket.close()
        self._reader.close()
        pending, self._pending = self._pending, {}
        for future in pending.values():
            if not future.done():
                future.set_exception(HelperEnded())
        self._ended(self)

    def _on_writable(self) -> None:
        try:
            while self._unsent:
                sent = self._socket.send(self._unsent[0])
                self._unsent_bytes -= sent
                self._unsent[0] = self._unsent[0][sent:]
                if not self._unsent[0]:
                    self._unsent.popleft()
        except BlockingIOError:
            self._loop.add_writer(self._socket, self._on_writable)
            return
        except OSError:
            # The reader finds the end too, after the last answers.
            self._unsent.clear()
        self._loop.remove_writer(self._socket)

    def _on_readable(self) -> None:
        try:
            answers = self._reader.read()
        except BlockingIOError:
            return
        except EOFError:
            self.close()
            return
        except BrokenFrame as error:
            logger.warning("the agent helper sent what is no answer: %s", error)
            self.close()
            return
        for answer in answers:
            self._take(answer)

    def _take(self, received: ReceivedAnswer) -> None:
        future = self._pending.pop(received.answer.call, None)
        match received.answer:
            case Completed(_, value, handle):
                resource = None if handle is None else HelperResource(self, handle)
                reply = HelperReply(value, received.descriptors, resource)
                if future is None or future.done():
                    self._discard(reply)
                else:
                    future.set_result(reply)
            case CallFailed(_, error):
                received.close()
                if future is not None and not future.done():
                    future.set_exception(failure_of(error))

    def _discard(self, reply: HelperReply) -> None:
        for descriptor in reply.descriptors:
            os.close(descriptor)
        if reply.resource is not None:
            reply.resource.release()


class AgentHelper:
    """Calls operations of the helper. Belongs to one event loop; use as ``async with``.

    ``start`` starts a helper. ``first`` is one that was started already, before this process gave
    up the rights to start it as its user.
    """

    def __init__(
        self,
        start: StartHelper,
        first: HelperProcess | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._start = start
        self._first = first
        self._clock = clock
        self._connection: _Connection | None = None
        self._restarting: asyncio.Task[None] | None = None
        self._endings: set[asyncio.Task[None]] = set()
        self._ends: list[float] = []
        self._changed = asyncio.Event()
        self._numbers = 0
        self._failure = ""
        self._closing = asyncio.Event()
        self.loop: asyncio.AbstractEventLoop | None = None
        """The event loop that it belongs to, from ``async with`` on."""

    async def __aenter__(self) -> Self:
        self.loop = asyncio.get_running_loop()
        self._restarting = asyncio.create_task(self._started())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def call(self, operation: str, **arguments: Any) -> HelperReply:
        """Call an operation; cancelling interrupts it where that is possible.

        Raises:
            HelperEnded: If the helper ended during the call.
            HelperUnavailable: If it does not run; the call was not sent.
            OperationFailed: If the operation failed for an unexpected reason.
            FileError, Unreadable, OSError: As the operation raises them.
        """
        connection = await self._running()
        self._numbers += 1
        return await connection.call(Call(self._numbers, operation, arguments))

    def call_blocking(self, operation: str, **arguments: Any) -> HelperReply:
        """Call an operation from another thread than the event loop's, which must run.

        Raises:
            HelperUnavailable: Also if there is no answer in `BLOCKING_SECONDS`.
            HelperEnded, OperationFailed, OSError: As `call` raises them.
        """
        if self.loop is None or self.loop.is_closed():
            raise HelperUnavailable("the service does not run")
        call = asyncio.run_coroutine_threadsafe(self.call(operation, **arguments), self.loop)
        try:
            return call.result(BLOCKING_SECONDS)
        except TimeoutError:
            call.cancel()
            raise HelperUnavailable("it does not answer") from None

    async def close(self) -> None:
        """End the helper and wait for its end; twice is fine."""
        self._closing.set()
        if self._restarting is not None:
            await self._restarting
        if self._connection is not None:
            self._connection.close()
        await asyncio.gather(*self._endings)
        self._notify()

    async def _running(self) -> _Connection:
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                while self._connection is None:
                    if self._closing.is_set():
                        raise HelperUnavailable("the service ends")
                    await self._changed.wait()
        except TimeoutError:
            raise HelperUnavailable(self._failure) from None
        return self._connection

    async def _started(self) -> None:
        while not self._closing.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(pause(self._ends, self._clock())):
                    await self._closing.wait()
            try:
                process, self._first = self._first, None
                if process is None:
                    process = await asyncio.to_thread(self._start)
            except OSError as error:
                self._failure = str(error)
                self._ends = [*self._ends[-20:], self._clock()]
                logger.warning("the agent helper cannot be started: %s", error)
                continue
            self._connection = _Connection(process, self._on_end)
            self._notify()
            return

    def _on_end(self, connection: _Connection) -> None:
        self._connection = None
        self._run(asyncio.to_thread(connection.process.end, END_SECONDS))
        if not self._closing.is_set():
            logger.warning("the agent helper has ended, and is started again")
            self._ends = [*self._ends[-20:], self._clock()]
            self._restarting = asyncio.create_task(self._started())

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._endings.add(task)
        task.add_done_callback(self._endings.discard)

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
