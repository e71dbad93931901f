"""Owner of the asyncio tasks in which chats take their turns: one task for each chat at work.

A task runs one turn after the other until the worker reports that none follows:

    start ──> run ──> finish ──> run ──> finish ──> (task ends)
               │ cancelled by ``interrupt``: finish is called with ``None``
               └ cancelled by ``close``: requeue is called in place of finish

Invariants:

- A chat never has two tasks. A ``start`` during the last ``finish`` makes the task go on with
  another turn, so that a message that arrives just then is not left in the queue.
- Only ``run`` is ever cancelled. ``finish`` and ``requeue`` write to the database and store the
  recording; cancelling them would leave a turn that is neither running nor ended.
- ``close`` returns when every task has ended. A chat that is started after that stays queued in
  the database until the next start of the program.
"""

import asyncio
import logging
from typing import Generic, Protocol, TypeVar

from deskhand.vncbridge.server.json_logs import set_log_context

log = logging.getLogger(__name__)
T = TypeVar("T")


class Worker(Protocol[T]):
    """Runs a chat's turns; a run may be cancelled, the end of a turn may not."""

    async def run(self, chat_id: str) -> T:
        """Work until the turn is over; cancelling interrupts the turn."""

    async def finish(self, chat_id: str, ended: T | None) -> bool:
        """Record how the turn ended; return whether another one follows at once."""

    async def requeue(self, chat_id: str) -> None:
        """Leave the turn to the next start of the program."""


class Turns(Generic[T]):
    """One task for each chat at work."""

    def __init__(self, worker: Worker[T]) -> None:
        self._worker = worker
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._runs: dict[str, asyncio.Task[T]] = {}
        self._again: set[str] = set()
        self._closing = False

    def start(self, chat_id: str) -> None:
        """Start a chat's task; a task that is about to end takes another turn instead."""
        if self._closing:
            return
        if chat_id in self._tasks:
            self._again.add(chat_id)
            return
        self._tasks[chat_id] = asyncio.create_task(
            self._take_turns(chat_id), name=f"chat {chat_id}"
        )

    def ensure(self, chat_id: str) -> None:
        """Start a chat's task unless it has one, as after a turn whose end was not recorded."""
        if chat_id not in self._tasks:
            self.start(chat_id)

    def interrupt(self, chat_id: str) -> None:
        """Cancel the current run of a chat; its turn is finished as interrupted."""
        run = self._runs.get(chat_id)
        if run is not None:
            run.cancel()

    async def over(self, chat_id: str) -> None:
        """Return when the chat has no task any more."""
        task = self._tasks.get(chat_id)
        if task is not None:
            await asyncio.wait({task})

    async def close(self) -> None:
        """Requeue the turns that are running and return when no task is left."""
        self._closing = True
        for run in tuple(self._runs.values()):
            run.cancel()
        # A loop, because a task that is in ``finish`` just now has no run to cancel.
        while self._tasks:
            await asyncio.wait(set(self._tasks.values()))

    async def _take_turns(self, chat_id: str) -> None:
        set_log_context({"chat_id": chat_id})
        try:
            going_on = True
            while going_on and not self._closing:
                # Before the turn reads the queue: a ``start`` from here on asks for one more turn.
                self._again.discard(chat_id)
                going_on = await self._take_turn(chat_id) or chat_id in self._again
        except Exception:
            # The chat stays busy in the database; ``ensure`` or the next start of the program
            # continues it.
            log.exception("the turn of chat %s could not be settled", chat_id)
        finally:
            self._again.discard(chat_id)
            del self._tasks[chat_id]

    async def _take_turn(self, chat_id: str) -> bool:
        # A task of its own, so that ``interrupt`` cancels the run and not ``finish`` after it.
        run: asyncio.Task[T] = asyncio.ensure_future(self._worker.run(chat_id))
        self._runs[chat_id] = run
        try:
            await asyncio.wait({run})
        finally:
            del self._runs[chat_id]
        # A run that ended before ``close`` cancelled it has a result, which must be recorded.
        if self._closing and run.cancelled():
            await self._worker.requeue(chat_id)
            return False
        return await self._worker.finish(chat_id, None if run.cancelled() else run.result())
