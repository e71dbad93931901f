"""Connections that requests make, which a cancellation does not cut.

`httpcore2` and `anyio` leave the socket of a connection open until it is collected if their task is
cancelled while it is made. Errors and time-outs close it.
"""

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")
BEGINS = "connection.connect_tcp.started"
ENDS = frozenset(
    {
        "connection.connect_tcp.failed",
        "connection.start_tls.complete",
        "connection.start_tls.failed",
    }
)
"""Of connections with TLS; names of the extension ``trace`` of httpx."""


class Connecting:
    """Whether one request makes its connection; `trace` is its extension of that name."""

    def __init__(self) -> None:
        self._over = asyncio.Event()
        self._over.set()

    async def trace(self, event: str, info: dict[str, Any]) -> None:
        """Follow the request."""
        if event == BEGINS:
            self._over.clear()
        elif event in ENDS:
            self._over.set()

    async def keep(self, work: Awaitable[T]) -> T:
        """Return the result of the request; cancelling ends it when its connection is made."""
        task = asyncio.ensure_future(work)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            while not self._over.is_set():
                # The caller may be cancelled again.
                with suppress(asyncio.CancelledError):
                    await self._over.wait()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            raise
