"""Output of a process as it comes, as server-sent events."""

from collections.abc import AsyncGenerator, Callable
from typing import Any

from deskhand.vncbridge.http.sse import format_event

from .process import Process

READ_SIZE = 32_768

Json = dict[str, Any]


async def output_events(
    process: Process, cursor: int, ending: Callable[[], Json]
) -> AsyncGenerator[bytes, None]:
    """Yield output from ``cursor`` on, and at last how it ended. Closing it is harmless."""
    while True:
        # `exit` is read before the buffer and kept: it may be set while the generator is suspended
        # in a yield, and the last output would not be sent.
        exited = process.exit is not None
        chunk = process.buffer.read(cursor, READ_SIZE, whole=not exited)
        if chunk.data:
            cursor = chunk.next_cursor
            data = {
                "output": chunk.data.decode("utf-8", "replace"),
                "cursor": chunk.cursor,
                "next_cursor": cursor,
                "gap_bytes": chunk.gap_bytes,
            }
            yield format_event("output", data, str(cursor))
        elif exited:
            yield format_event("exit", ending(), str(cursor))
            return
        else:
            await process.wait_output(cursor)
