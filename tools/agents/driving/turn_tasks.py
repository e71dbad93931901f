"""Owner of the asyncio tasks in which chats take their turns: one task for each chat at work.

A task runs one turn after the other until the worker reports that none follows:

    start ──> run ──> finish ──> run ──> finish ──> (task ends)
               │ cancelled by ``interrupt``: finish is called with ``None``
               └ cancelled by ``close`` between two replies: requeue is called in place of finish

Invariants:

- A chat never has two tasks. A ``start`` during the last ``finish`` makes the task go on with
  another turn, so that a message that arrives just then is not left in the queue.
- Only ``run`` is ever cancelled. ``finish`` and ``requeue`` write to the database and store the
  recording; cancelling them would leave a turn that is neither running nor ended.
- A turn whose ``finish`` fails is not dropped. ``finish`` is called again with a growing delay
  until it succeeds or the program ends; it must be repeatable. It waits by itself for the end of
  a fault of the database, see :mod:`deskhand.tools.store.faults.health`.
- A turn that another control plane has taken over ends without a further write.
- ``close`` returns when every task has ended. A chat that is started after that stays queued in
  the database until the next start of the program.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from deskhand.tools.agents.desktops.ports import Now
from deskhand.tools.conversation.states import BUSY
from deskhand.tools.conversation.stranded import stranded
from deskhand.tools.store import chats
from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import StaleDriver
from deskhand.tools.store.faults.policy import retry_delay
from deskhand.vncbridge.server.json_logs import set_log_context

from .port import TurnTasks

log = logging.getLogger(__name__)
T = TypeVar("T")


class Worker(Protocol[T]):
    """Runs a chat's turns; a run may be cancelled, the end of a turn may not."""

    async def run(self, chat_id: str) -> T:
        """Work until the turn is over; cancelling interrupts the turn."""

    async def finish(self, chat_id: str, ended: T | None) -> bool:
        """Record how the turn ended; return whether another one follows at once.

        It is called again if it raises.
        """

    async def requeue(self, chat_id: str) -> None:
        """Leave the turn to the next start of the program."""

    def abandon(self, chat_id: str) -> None:
        """Forget a turn that another control plane has taken over."""

    async def between_replies(self, chat_id: str) -> None:
        """Return when the run can be cancelled without cutting an action off."""


class Turns(Generic[T]):
    """One task for each chat at work."""

    def __init__(self, worker: Worker[T], delay: Callable[[int], float] = retry_delay) -> None:
        """Let ``worker`` run the turns; ``delay`` returns the seconds after failed attempts."""
        self._worker = worker
        self._delay = delay
        self._ended = asyncio.Event()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._runs: dict[str, asyncio.Task[T]] = {}
        self._again: set[str] = set()
        self._closing = False

    @property
    def chat_ids(self) -> frozenset[str]:
        """Ids of the chats that have a task."""
        return frozenset(self._tasks)

    def generation_of(self, chat_id: str) -> int:
        """Return 0: this control plane is the only one, and nothing has to be fenced."""
        return 0

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
        """Start a chat's task unless it has one."""
        if chat_id not in self._tasks:
            self.start(chat_id)

    def interrupt(self, chat_id: str) -> None:
        """Cancel the current run of a chat; its turn is finished as interrupted."""
        run = self._runs.get(chat_id)
        # Cancelled a second time, it could not store how the turn was cut off.
        if run is not None and not run.cancelling():
            run.cancel()

    async def over(self, chat_id: str) -> None:
        """Return when the chat has no task any more."""
        task = self._tasks.get(chat_id)
        if task is not None:
            await asyncio.wait({task})

    async def close(self, seconds: float = 0.0) -> None:
        """Requeue the turns that are running and return when no task is left.

        An action that is running is cut off only if it takes longer than ``seconds``.
        """
        self._closing = True
        self._ended.set()
        await asyncio.gather(*[self._stop(chat_id, seconds) for chat_id in tuple(self._runs)])
        # A loop, because a task that is in ``finish`` just now has no run to cancel.
        while self._tasks:
            await asyncio.wait(set(self._tasks.values()))

    async def _stop(self, chat_id: str, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._worker.between_replies(chat_id)
        self.interrupt(chat_id)

    async def _take_turns(self, chat_id: str) -> None:
        set_log_context({"chat_id": chat_id})
        try:
            going_on = True
            while going_on and not self._closing:
                # Before the turn reads the queue: a ``start`` from here on asks for one more turn.
                self._again.discard(chat_id)
                going_on = await self._take_turn(chat_id) or chat_id in self._again
        except Exception:
            # The program ends: the chat stays busy in the database, and the next start resumes it.
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
        if not run.cancelled() and isinstance(run.exception(), StaleDriver):
            return self._abandoned(chat_id, run.exception())
        # A run that ended before ``close`` cancelled it has a result, which must be recorded. One
        # that failed then could not store what it did.
        if self._closing and (run.cancelled() or run.exception() is not None):
            await self._worker.requeue(chat_id)
            return False
        return await self._finish(chat_id, None if run.cancelled() else run.result())

    def _abandoned(self, chat_id: str, error: BaseException | None) -> bool:
        log.info("the turn ends here: %s", error)
        self._worker.abandon(chat_id)
        return False

    async def _finish(self, chat_id: str, ended: T | None) -> bool:
        attempts = 0
        while True:
            try:
                return await self._worker.finish(chat_id, ended)
            except StaleDriver as error:
                return self._abandoned(chat_id, error)
            except Exception:
                if self._closing:
                    raise
                attempts += 1
                log.exception("the turn of chat %s is not finished yet", chat_id)
            # ``close`` ends the pause; one more attempt follows.
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._ended.wait(), self._delay(attempts))


class Supervisor:
    """Resumes unfinished chats that have no task, as a start does.

    No chat should ever need it, as each turn is retried until it is finished.
    """

    def __init__(self, store: Store, turns: TurnTasks, now: Now) -> None:
        self._store = store
        self._turns = turns
        self._now = now
        self.resumed = 0
        """Number of chats that were resumed; it must stay 0."""

    async def resume_stranded(self) -> tuple[str, ...]:
        """Resume the unfinished chats without a task; return their ids.

        Raises:
            StoreUnavailable: If the database cannot be read.
        """
        rows = await self._store.read(lambda session: chats.in_states(session, BUSY))
        unfinished = [(row.id, row.updated_at) for row in rows]
        found = stranded(unfinished, self._turns.chat_ids, self._now())
        for chat_id in found:
            log.error("chat %s had no task and is resumed", chat_id)
            self._turns.ensure(chat_id)
        self.resumed += len(found)
        return found
