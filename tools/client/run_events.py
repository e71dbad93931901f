"""Events of runs, received while they happen."""

import json
import time
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

from deskhand.desktop.client.lines import StreamedLines

from .plane_transport import PlaneTransport
from .values import RunEvent, run_event


class RunEvents:
    """The events of one run, or of all, received while its ``async with`` block runs.

    The iteration ends with the control plane. With an event's ``id`` as ``since``, the stream
    begins with the event after that one.
    """

    def __init__(self, transport: PlaneTransport, run_id: str, since: str) -> None:
        self._transport = transport
        self._path = f"/api/v0/chats/{run_id}/events" if run_id else "/api/v0/events"
        self._since = since
        self._stack = AsyncExitStack()
        self._lines: StreamedLines

    async def __aenter__(self) -> Self:
        headers = {"Last-Event-ID": self._since} if self._since else {}
        opening = self._transport.open_client().lines(self._path, headers)
        self._lines = await self._stack.enter_async_context(opening)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._stack.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> RunEvent:
        event = await self.next()
        if event is None:
            raise StopAsyncIteration
        return event

    async def next(self, timeout: float | None = None) -> RunEvent | None:
        """Return the next event, None at the end of the stream.

        Raises:
            TimeoutError: If none arrives in ``timeout`` seconds; the stream stays open.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            text = await self._lines.next(left)
            if text is None:
                return None
            # Only data lines are read: the JSON repeats what the id and event lines contain.
            if text.startswith("data:"):
                return run_event(json.loads(text[5:]))
