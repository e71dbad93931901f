"""Owner of the tasks in which chats work: one a chat, each awaited when all ends."""

import asyncio
import logging
from typing import Generic, Protocol, TypeVar

from deskhand.vncbridge.server.json_logs import set_log_context

log = logging.getLogger(__name__)
T = TypeVar("T")


class Worker(Protocol[T]):
    """Does a chat's work, in two parts: the first may be cut short, the second may not."""

    async def attempt(self, chat_id: str) -> T:
        """Work until the turn is over; cancelling is how a turn is interrupted."""

    async def settle(self, chat_id: str, ended: T | None) -> bool:
        """Write down how the turn ended; say whether another one follows at once."""

    async def put_back(self, chat_id: str) -> None:
        """Leave the turn to the next start of the program."""


class Turns(Generic[T]):
    """One task for each chat at work."""

    def __init__(self, worker: Worker[T]) -> None:
        self._worker = worker
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._attempts: dict[str, asyncio.Task[T]] = {}
        self._again: set[str] = set()
        self._closing = False

    def start(self, chat_id: str) -> None:
        """Let a chat work; one that is about to end its task goes on instead."""
        if self._closing:
            return
        if chat_id in self._tasks:
            self._again.add(chat_id)
            return
        self._tasks[chat_id] = asyncio.create_task(self._work(chat_id), name=f"chat {chat_id}")

    def ensure(self, chat_id: str) -> None:
        """Let a chat work unless it does, as after a turn that could not be settled."""
        if chat_id not in self._tasks:
            self.start(chat_id)

    def interrupt(self, chat_id: str) -> None:
        """Cut the current attempt short; it is settled as interrupted."""
        attempt = self._attempts.get(chat_id)
        if attempt is not None:
            attempt.cancel()

    async def over(self, chat_id: str) -> None:
        """Return when the chat has no task any more."""
        task = self._tasks.get(chat_id)
        if task is not None:
            await asyncio.wait({task})

    async def close(self) -> None:
        """Put back what is going on and return when no task is left."""
        self._closing = True
        for attempt in tuple(self._attempts.values()):
            attempt.cancel()
        while self._tasks:
            await asyncio.wait(set(self._tasks.values()))

    async def _work(self, chat_id: str) -> None:
        set_log_context({"chat_id": chat_id})
        try:
            going_on = True
            while going_on and not self._closing:
                self._again.discard(chat_id)
                going_on = await self._turn(chat_id) or chat_id in self._again
        except Exception:
            log.exception("the turn of chat %s could not be settled", chat_id)
        finally:
            self._again.discard(chat_id)
            del self._tasks[chat_id]

    async def _turn(self, chat_id: str) -> bool:
        attempt: asyncio.Task[T] = asyncio.ensure_future(self._worker.attempt(chat_id))
        self._attempts[chat_id] = attempt
        try:
            await asyncio.wait({attempt})
        finally:
            del self._attempts[chat_id]
        if self._closing and attempt.cancelled():
            await self._worker.put_back(chat_id)
            return False
        return await self._worker.settle(chat_id, None if attempt.cancelled() else attempt.result())
