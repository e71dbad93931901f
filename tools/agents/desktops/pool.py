"""Own desktops of chats: at most so many, given out in order, taken back from those at rest."""

import asyncio
from collections.abc import Awaitable, Callable

from .ports import DesktopSource


class DesktopPool:
    """Who has a desktop, and who waits for one.

    ``released`` is told of a chat whose desktop was taken back; ``clock`` counts seconds.
    """

    def __init__(
        self,
        machines: DesktopSource,
        limit: int,
        released: Callable[[str], Awaitable[None]],
        clock: Callable[[], float],
    ) -> None:
        self._clock = clock
        self._machines = machines
        self._limit = limit
        self._released = released
        self._desktops: dict[str, str | None] = {}
        """By chat; ``None`` while it starts."""
        self._resting: dict[str, float] = {}
        """Chats that could do without and since when, the longest at rest first."""
        self._waiting: dict[str, asyncio.Event] = {}
        self._expected: dict[str, None] = {}
        """Chats that were told of and have not asked yet."""

    def place(self, chat_id: str) -> int | None:
        """Return a chat's place in the queue, from 1, or ``None`` when it does not wait."""
        if chat_id in self._waiting:
            return list(self._waiting).index(chat_id) + 1
        if chat_id not in self._expected:
            return None
        room = self._limit - len(self._desktops) + len(self._resting)
        place = len(self._waiting) + list(self._expected).index(chat_id) + 1 - max(room, 0)
        return place if place > 0 else None

    def expect(self, chat_id: str) -> None:
        """Note that a chat will ask for a desktop soon, so that its place is known before."""
        self._expected[chat_id] = None

    def adopt(self, chat_id: str, desktop_id: str) -> None:
        """Note what a chat had before the control plane was started again."""
        self._desktops[chat_id] = desktop_id

    async def acquire(self, chat_id: str, name: str) -> str:
        """Return the chat's desktop, started when there is room for one more."""
        self._expected.pop(chat_id, None)
        self._resting.pop(chat_id, None)
        held = self._desktops.get(chat_id)
        if held is not None and self._machines.known(held):
            return held
        await self._wait_for_room(chat_id)
        self._desktops[chat_id] = None
        try:
            desktop_id = await self._machines.acquire(chat_id, name=name)
        except BaseException:
            self._forget(chat_id)
            raise
        self._desktops[chat_id] = desktop_id
        return desktop_id

    def rest(self, chat_id: str) -> None:
        """Note that the desktop may be taken back when another chat needs one."""
        self._expected.pop(chat_id, None)
        if self._desktops.get(chat_id):
            self._resting[chat_id] = self._clock()
            self._wake()

    async def take_back(self, seconds: float) -> None:
        """Take back what has rested for so long and is not in use."""
        for chat_id, since in list(self._resting.items()):
            if self._clock() - since >= seconds and not await self._in_use(chat_id):
                await self._give_back(chat_id)
        # What somebody watched a while ago may be free by now.
        self._wake()

    async def release(self, chat_id: str) -> None:
        """End the chat's desktop, if it has one of its own."""
        self._expected.pop(chat_id, None)
        desktop_id = self._desktops.get(chat_id)
        if desktop_id is None:
            return
        # Forgotten first: a message that comes now must not get the desktop that ends.
        self._resting.pop(chat_id, None)
        self._forget(chat_id)
        await self._released(chat_id)
        await self._machines.release(desktop_id)

    async def _wait_for_room(self, chat_id: str) -> None:
        self._desktops.pop(chat_id, None)
        woken = self._waiting[chat_id] = asyncio.Event()
        try:
            while not await self._room(chat_id):
                await woken.wait()
                # Before the next look, so that what happens during it is not slept through.
                woken.clear()
        finally:
            del self._waiting[chat_id]
            self._wake()

    async def _room(self, chat_id: str) -> bool:
        if self.place(chat_id) != 1:
            return False
        for chat, desktop_id in list(self._desktops.items()):
            if desktop_id is not None and not self._machines.known(desktop_id):
                self._resting.pop(chat, None)
                del self._desktops[chat]
        for resting in list(self._resting):
            if len(self._desktops) < self._limit:
                break
            if not await self._in_use(resting):
                await self._give_back(resting)
        return len(self._desktops) < self._limit

    async def _in_use(self, chat_id: str) -> bool:
        desktop_id = self._desktops.get(chat_id)
        return desktop_id is not None and await self._machines.in_use(desktop_id)

    async def _give_back(self, chat_id: str) -> None:
        # It may have been sent a message while its desktop was asked.
        if chat_id in self._resting:
            await self.release(chat_id)

    def _forget(self, chat_id: str) -> None:
        self._desktops.pop(chat_id, None)
        self._wake()

    def _wake(self) -> None:
        for waiting in self._waiting.values():
            waiting.set()
