"""Output as it comes, as server-sent events."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager
from typing import Any

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from .errors import TooManyOutputStreams
from .process import Process

MOST = 128
HEARTBEAT_SECONDS = 15.0
PIECE = 32_768

Json = dict[str, Any]


class Streams:
    """How many streams of output are open."""

    def __init__(self, most: int = MOST, heartbeat: float = HEARTBEAT_SECONDS) -> None:
        self._most = most
        self._count = 0
        self._heartbeat = heartbeat
        self._ending = asyncio.Event()

    def end(self) -> None:
        """End all streams and those to come: the service closes."""
        self._ending.set()

    def check(self) -> None:
        """Raise TooManyStreams if there is no room for another."""
        if self._count >= self._most:
            raise TooManyOutputStreams(self._most)

    async def events(
        self, process: Process, cursor: int, ending: Callable[[], Json]
    ) -> AsyncGenerator[bytes, None]:
        """Yield output from ``cursor`` on, and at last how it ended. Closing it is harmless."""
        with self._one_more():
            while not self._ending.is_set():
                exited = process.exit is not None
                chunk = process.buffer.read(cursor, PIECE, whole=not exited)
                if chunk.data:
                    cursor = chunk.next_cursor
                    data = {
                        "output": chunk.data.decode("utf-8", "replace"),
                        "cursor": chunk.cursor,
                        "next_cursor": cursor,
                        "gap_bytes": chunk.gap_bytes,
                    }
                    yield _event("output", data, cursor)
                elif exited:
                    yield _event("exit", ending(), cursor)
                    return
                elif not await self._heard(process, cursor):
                    yield b": still here\n\n"

    async def _heard(self, process: Process, cursor: int) -> bool:
        waiting = [
            asyncio.ensure_future(process.wait_output(cursor)),
            asyncio.ensure_future(self._ending.wait()),
        ]
        try:
            done, _ = await asyncio.wait(
                waiting, timeout=self._heartbeat, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
        return bool(done)

    @contextmanager
    def _one_more(self) -> Iterator[None]:
        self._count += 1
        try:
            yield
        finally:
            self._count -= 1


class OutputResponse(StreamingResponse):
    """The events of a process; they are closed with the connection, not when collected."""

    def __init__(self, events: AsyncGenerator[bytes, None]) -> None:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(events, media_type="text/event-stream", headers=headers)
        self._events = events

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send them until the client leaves."""
        async with aclosing(self._events):
            await super().__call__(scope, receive, send)


def _event(kind: str, data: Json, cursor: int) -> bytes:
    line = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"id: {cursor}\nevent: {kind}\ndata: {line}\n\n".encode()
