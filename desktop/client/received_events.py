"""Server-sent events of one response, received while they happen."""

import json
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from .http import DesktopClient
from .lines import StreamedLines

E = TypeVar("E")
"""What is made of the data of an event."""


class ReceivedEvents(Generic[E]):
    """The events of one stream, received while its ``async with`` block runs.

    The iteration ends with the service. With an event's ``id`` as ``since``, the stream begins
    with the event after that one.
    """

    def __init__(
        self,
        client: Callable[[], DesktopClient],
        path: Callable[[], str],
        since: str,
        parse: Callable[[Any], E],
    ) -> None:
        """``client`` and ``path`` are called when the block begins."""
        self._client = client
        self._path = path
        self._since = since
        self._parse = parse
        self._stack = AsyncExitStack()
        self._lines: StreamedLines

    async def __aenter__(self) -> Self:
        headers = {"Last-Event-ID": self._since} if self._since else {}
        opening = self._client().lines(self._path(), headers)
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

    async def __anext__(self) -> E:
        event = await self._next(None)
        if event is None:
            raise StopAsyncIteration
        return event

    async def _next(self, deadline: float | None) -> E | None:
        """Return the next event, None at the end; ``deadline`` is on the monotonic clock.

        Raises:
            TimeoutError: If none arrives in time; the stream stays open.
        """
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            text = await self._lines.next(left)
            if text is None:
                return None
            # Only data lines are read: the JSON repeats what the id and event lines contain.
            if text.startswith("data:"):
                return self._parse(json.loads(text[5:]))
