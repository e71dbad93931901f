"""Concurrent requests of one account, shared fairly between its conversations.

A slot is held while a request is under way and never in a pause between two attempts. When a slot
becomes free, it goes to the conversation with the fewest requests under way; among equals to the
one that was served longest ago. So a chat with many requests does not delay the single request of
another chat by more than one.
"""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

DEFAULT_REQUESTS = 16


class RequestSlots:
    """A fair semaphore; every wait can be cancelled."""

    def __init__(self, most: int = DEFAULT_REQUESTS) -> None:
        """Permit ``most`` requests at once."""
        self._most = most
        self._held: Counter[str] = Counter()
        self._last_served: dict[str, int] = {}
        self._served = 0
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    @property
    def held(self) -> int:
        """Number of requests under way."""
        return self._held.total()

    @asynccontextmanager
    async def slot(self, conversation: str) -> AsyncIterator[None]:
        """Hold a slot for a request of a conversation; wait until one is free."""
        if self.held < self._most and not self._waiting:
            self._serve(conversation)
        else:
            await self._wait(conversation)
        try:
            yield
        finally:
            self._release(conversation)

    def _serve(self, conversation: str) -> None:
        self._served += 1
        self._last_served[conversation] = self._served
        self._held[conversation] += 1

    async def _wait(self, conversation: str) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(conversation, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            # The slot may have been assigned in the same moment.
            if turn.done() and not turn.cancelled():
                self._release(conversation)
            else:
                self._leave(conversation, turn)
            raise

    def _release(self, conversation: str) -> None:
        self._held -= Counter({conversation: 1})
        while self._waiting and self.held < self._most:
            chosen = min(self._waiting, key=self._order)
            turn = self._waiting[chosen][0]
            self._leave(chosen, turn)
            # A wait whose task was cancelled, and has not run since.
            if not turn.done():
                self._serve(chosen)
                turn.set_result(None)
        if conversation not in self._held and conversation not in self._waiting:
            self._last_served.pop(conversation, None)

    def _order(self, conversation: str) -> tuple[int, int]:
        return self._held[conversation], self._last_served.get(conversation, 0)

    def _leave(self, conversation: str, turn: asyncio.Future[None]) -> None:
        queue = self._waiting.get(conversation)
        if queue is not None and turn in queue:
            queue.remove(turn)
            if not queue:
                del self._waiting[conversation]
