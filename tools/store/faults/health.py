"""Known state of the database, and the waits of callers that can wait for the end of a fault.

A fault begins with the first transaction that fails for a cause that may pass, and ends with the
next one that is committed. :meth:`DatabaseHealth.pause` ends early when the fault does, so that
callers with a long delay do not wait longer than necessary.
"""

import asyncio
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from contextvars import ContextVar
from typing import Protocol

from deskhand.tools.store.errors import StoreUnavailable


class Patience(Protocol):
    """A caller that waits for the end of a fault instead of failing."""

    def waiting(self) -> AbstractAsyncContextManager[None]:
        """Report, while the block runs, that the caller waits."""


_patience: ContextVar[Patience | None] = ContextVar("patience", default=None)


@contextmanager
def patience(found: Patience | None) -> Iterator[None]:
    """Retry the transactions of the block, and of tasks that it starts, while a fault lasts."""
    before = _patience.set(found)
    try:
        yield
    finally:
        _patience.reset(before)


def current_patience() -> Patience | None:
    """Return the patience of the current task, or ``None`` if its transactions fail at once."""
    return _patience.get()


class DatabaseHealth:
    """The current fault of one database."""

    def __init__(self) -> None:
        self.fault: StoreUnavailable | None = None
        """Error of the newest transaction, if it failed for a cause that may pass."""
        self.locked_at: float | None = None
        """Time of the loop at which the newest attempt gave up waiting for a lock."""
        self.ended = False
        """True when no one may wait for the end of a fault any more."""
        self.faulty = asyncio.Event()
        self.check = asyncio.Event()
        """Set when the state should be checked, because it may have changed unnoticed."""
        self._recovered = asyncio.Event()
        self._end = asyncio.Event()

    def failed(self, error: StoreUnavailable, *, locked: bool) -> None:
        """Record a transaction that failed for a cause that may pass."""
        self.fault = error
        if locked:
            self.locked_at = asyncio.get_running_loop().time()
        self.faulty.set()
        self._recovered.clear()

    def succeeded(self) -> None:
        """Record a transaction that was committed."""
        self.fault = self.locked_at = None
        self.faulty.clear()
        self._recovered.set()

    def end_waits(self) -> None:
        """End all waits, the current ones and those to come."""
        self.ended = True
        self._end.set()

    async def pause(self, seconds: float) -> None:
        """Return after ``seconds``, or earlier when the fault or all waits end."""
        await self._first(seconds, self._recovered, self._end)

    async def delay(self, seconds: float) -> None:
        """Return after ``seconds``, or earlier when all waits end."""
        await self._first(seconds, self._end)

    async def _first(self, seconds: float, *events: asyncio.Event) -> None:
        waits = [asyncio.create_task(event.wait()) for event in events]
        try:
            await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)
