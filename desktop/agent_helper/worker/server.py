"""The helper's side of the socket: it runs operations in threads and sends their results.

The main thread reads requests until the service closes the socket. Each operation has a lane of
threads. A resource that an operation leaves open, such as a replacement of a file, gets a handle;
it is closed when the service releases the handle, or when the socket is closed.
"""

import os
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass
from typing import Any

from deskhand.desktop.agent_helper.errors import HelperUnavailable, OperationFailed
from deskhand.desktop.agent_helper.wire.failures import failure_json
from deskhand.desktop.agent_helper.wire.frames import BrokenFrame, FrameParser, WireFrame, encoded
from deskhand.desktop.agent_helper.wire.messages import (
    Answer,
    Call,
    CallFailed,
    Cancel,
    Completed,
    Release,
    answer_json,
    request_of,
)

from .lanes import ThreadLane

Json = dict[str, Any]
READ_SIZE = 65_536


@dataclass(frozen=True)
class OperationResult:
    """Result of an operation. The server owns the descriptors and the resource."""

    value: Json
    descriptors: tuple[int, ...] = ()
    resource: AbstractContextManager[object] | None = None
    """Already entered; left when it is released."""


class CallContext:
    """One call while it runs: its cancellation, and the open resources of the helper."""

    def __init__(self, resources: Mapping[int, AbstractContextManager[object]]) -> None:
        self._resources = resources
        self._lock = threading.Lock()
        self._interrupt: Callable[[], object] | None = None
        self.cancelled = False

    def on_cancel(self, interrupt: Callable[[], object]) -> None:
        """Call ``interrupt``, in any thread, when the call is cancelled; at once if it was."""
        with self._lock:
            self._interrupt = interrupt
            cancelled = self.cancelled
        if cancelled:
            interrupt()

    def cancel(self) -> None:
        """Cancel the call."""
        with self._lock:
            self.cancelled = True
            interrupt = self._interrupt
        if interrupt is not None:
            interrupt()

    def resource(self, handle: int) -> AbstractContextManager[object]:
        """Return an open resource.

        Raises:
            OperationFailed: If it was released.
        """
        found = self._resources.get(handle)
        if found is None:
            raise OperationFailed(f"there is no open resource {handle}")
        return found


Run = Callable[[Json, CallContext], OperationResult]


@dataclass(frozen=True)
class Operation:
    """A function that a call runs, and the lane of its thread."""

    run: Run
    lane: str = "files"


LANES = {"files": 8, "search": 4, "git": 2, "watch": 4, "network": 16, "picture": 1}
"""Threads of each lane at most."""


class CallServer:
    """Answers the calls that arrive at a socket."""

    def __init__(self, connection: socket.socket, operations: Mapping[str, Operation]) -> None:
        self._connection = connection
        self._operations = operations
        self._sending = threading.Lock()
        self._lock = threading.Lock()
        self._lanes = {name: ThreadLane(name, most) for name, most in LANES.items()}
        self._calls: dict[int, CallContext] = {}
        self._resources: dict[int, AbstractContextManager[object]] = {}
        self._handles = 0
        self._closed = False

    def serve(self) -> None:
        """Answer until the service closes the socket; then interrupt and close everything.

        Raises:
            BrokenFrame: If the service sends anything but requests.
        """
        parser = FrameParser()
        try:
            while data := self._receive():
                for frame in parser.feed(data):
                    self._handle(frame)
        finally:
            self._close()

    def _receive(self) -> bytes:
        with suppress(ConnectionResetError):
            return self._connection.recv(READ_SIZE)
        return b""

    def _handle(self, frame: WireFrame) -> None:
        match request_of(frame.body):
            case Call() as call:
                self._begin(call)
            case Cancel(number):
                context = self._calls.get(number)
                if context is not None:
                    context.cancel()
            case Release(handle):
                self._release(handle)

    def _begin(self, call: Call) -> None:
        context = CallContext(self._resources)
        operation = self._operations.get(call.operation)
        try:
            if operation is None:
                raise OperationFailed(f"there is no operation {call.operation!r}")
            self._calls[call.id] = context
            self._lanes[operation.lane].submit(lambda: self._run(call, operation, context))
        except Exception as error:  # noqa: BLE001 -- the border of a call
            self._calls.pop(call.id, None)
            self._send(CallFailed(call.id, failure_json(error)))

    def _run(self, call: Call, operation: Operation, context: CallContext) -> None:
        with ExitStack() as unsent:
            try:
                if context.cancelled:
                    raise OperationFailed("the call was cancelled")
                result = operation.run(call.arguments, context)
                for descriptor in result.descriptors:
                    unsent.callback(os.close, descriptor)
                handle = self._keep(result.resource)
                answer: Answer = Completed(call.id, result.value, handle)
                self._send(answer, result.descriptors)
            except Exception as error:  # noqa: BLE001 -- the border of a call
                self._send(CallFailed(call.id, failure_json(error)))
            finally:
                self._calls.pop(call.id, None)

    def _keep(self, resource: AbstractContextManager[object] | None) -> int | None:
        if resource is None:
            return None
        with self._lock:
            if not self._closed:
                self._handles += 1
                self._resources[self._handles] = resource
                return self._handles
        resource.__exit__(None, None, None)
        raise OperationFailed("the service has gone")

    def _release(self, handle: int) -> None:
        with self._lock:
            resource = self._resources.pop(handle, None)
        if resource is None:
            return
        try:
            # In a lane, because closing a resource may block on the disk.
            self._lanes["files"].submit(lambda: _close(resource))
        except HelperUnavailable:
            _close(resource)

    def _send(self, answer: Answer, descriptors: tuple[int, ...] = ()) -> None:
        data = encoded(WireFrame(answer_json(answer), len(descriptors)))
        # A service that has gone reads no answer.
        with self._sending, suppress(OSError):
            sent = socket.send_fds(self._connection, [data], descriptors) if descriptors else 0
            self._connection.sendall(memoryview(data)[sent:])

    def _close(self) -> None:
        with self._lock:
            self._closed = True
            resources = list(self._resources.values())
            self._resources.clear()
        for context in list(self._calls.values()):
            context.cancel()
        for resource in resources:
            _close(resource)


def _close(resource: AbstractContextManager[object]) -> None:
    with suppress(OSError, BrokenFrame):
        resource.__exit__(None, None, None)
