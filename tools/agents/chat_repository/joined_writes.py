"""Writes of one turn that are committed together.

A transaction costs the writer's turn, a change of threads and a write to the disk, and a step of an
agent writes five things: the reply of the model, the begin of the step, its picture, its end, and
the message with its result. The order is what matters: nothing is done for a call before its begin
is committed, and the next request is sent after the commit of its result. So the reply is committed
with the begin, and picture and end with the result.

- What is added waits for the next write; they are one transaction, in the order in which they came.
- What waits is committed by itself after `LONGEST_WAIT`, or at the end of the turn.
- The callback of a write is called after its commit, and in the order of the writes.
- If the database cannot be written, what waits goes on waiting. If a row that it needs was deleted,
  or another control plane has taken the chat over, it is abandoned.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from deskhand.tools.store.database import Store, uncancelled
from deskhand.tools.store.errors import StoreError, StoreUnavailable

log = logging.getLogger(__name__)
T = TypeVar("T")

LONGEST_WAIT = 0.2
"""Seconds; longer than the pause between two writes of a step, unless a tool of the step runs."""


def _nothing(_: object) -> None:
    """Do nothing after a commit."""


async def _keep() -> None:
    """Undo nothing."""


@dataclass(frozen=True)
class _Waiting:
    work: Callable[[Connection], Any]
    done: Callable[[Any], None]
    undo: Callable[[], Awaitable[None]]


class JoinedWrites:
    """The writes of one turn; an async context manager, which commits what waits at its end."""

    def __init__(
        self,
        store: Store,
        longest: float = LONGEST_WAIT,
        fence: Callable[[Connection], None] = _nothing,
    ) -> None:
        """Write to ``store``; ``fence`` comes first in each transaction, and can refuse it."""
        self._store = store
        self._fence = fence
        self._longest = longest
        self._waiting: list[_Waiting] = []
        self._turn = asyncio.Lock()
        self._timer: asyncio.TimerHandle | None = None
        self._flushes: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            await self.flush()
        except StoreError as error:
            log.warning("what a turn wrote last is lost: %s", error)
            await self._abandon(self._waiting)
        finally:
            self._stop_timer()
            await asyncio.gather(*self._flushes, return_exceptions=True)

    def add(
        self,
        work: Callable[[Connection], T],
        done: Callable[[T], None] = _nothing,
        undo: Callable[[], Awaitable[None]] = _keep,
    ) -> None:
        """Commit ``work`` with the next write; ``undo`` is called if that never happens."""
        self._waiting.append(_Waiting(work, done, undo))
        if self._timer is None:
            # The context of the caller, and with it its patience, goes to the callback.
            self._timer = asyncio.get_running_loop().call_later(self._longest, self._begin_flush)

    async def write(
        self, work: Callable[[Connection], T], done: Callable[[T], None] = _nothing
    ) -> T:
        """Commit ``work``, behind what waits, and return its result.

        Cancelling takes effect after the commit and the callbacks.

        Raises:
            StoreUnavailable: If the database cannot be written, unless the caller has patience.
            UnknownRow: If a row that one of the writes needs was deleted.
        """
        result: T = await uncancelled(self._commit(_Waiting(work, done, _keep)))
        return result

    async def flush(self) -> None:
        """Commit what waits; raises as `write`."""
        if self._waiting or self._turn.locked():
            await uncancelled(self._commit(None))

    async def _commit(self, last: _Waiting | None) -> Any:
        async with self._turn:
            self._stop_timer()
            waiting, self._waiting = self._waiting, []
            works = waiting if last is None else [*waiting, last]
            if not works:
                return None
            try:
                results = await self._store.write_short(lambda c: self._all(c, works))
            except StoreUnavailable:
                self._waiting[:0] = waiting
                raise
            except (StoreError, SQLAlchemyError):
                await self._abandon(waiting)
                raise
            for each, result in zip(works, results, strict=True):
                each.done(result)
            return results[-1]

    def _all(self, connection: Connection, works: list[_Waiting]) -> list[Any]:
        self._fence(connection)
        return [each.work(connection) for each in works]

    async def _abandon(self, works: list[_Waiting]) -> None:
        for each in works:
            await each.undo()
        works.clear()

    def _begin_flush(self) -> None:
        self._timer = None
        task = asyncio.create_task(self._late_flush(), name="writes of a turn")
        self._flushes.add(task)
        task.add_done_callback(self._flushes.discard)

    async def _late_flush(self) -> None:
        try:
            await self.flush()
        except StoreError as error:
            # The next write finds the same, and its caller can react.
            log.debug("what waits was not written: %s", error)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
