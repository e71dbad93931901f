"""Stops of turns after the steps that run now."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from deskhand.tools.agents.chat_repository.repository import ChatRepository
from deskhand.tools.conversation.errors import Conflict
from deskhand.tools.store import steps
from deskhand.tools.store.errors import UnknownRow


class LateStops:
    """Stops chats when their running steps have ended; ``stop`` interrupts a chat.

    A request is not stored: after a restart the chat goes on.
    """

    def __init__(self, repository: ChatRepository, stop: Callable[[str], Awaitable[bool]]) -> None:
        self._repository = repository
        self._stop = stop
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def request(self, chat_id: str) -> None:
        """Stop a chat after its running steps, or at once without one; a second call is fine."""
        if chat_id not in self._tasks:
            task = asyncio.create_task(self._stop_late(chat_id), name=f"late stop {chat_id}")
            self._tasks[chat_id] = task
            task.add_done_callback(lambda _: self._tasks.pop(chat_id, None))

    async def close(self) -> None:
        """Forget all requests."""
        tasks = tuple(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _stop_late(self, chat_id: str) -> None:
        # The chat may end, or be deleted, before its step does.
        with suppress(Conflict, UnknownRow), self._repository.hub.subscribe(chat_id) as events:
            left = await self._running(chat_id)
            while left:
                event = await anext(events, None)
                if event is None or event.kind == "deleted":
                    return
                if event.kind in ("step", "status", "lost"):
                    left &= await self._running(chat_id)
            await self._stop(chat_id)

    async def _running(self, chat_id: str) -> set[str]:
        rows = await self._repository.store.read(lambda s: steps.running(s, chat_id))
        return {row.id for row in rows}
