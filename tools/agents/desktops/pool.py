"""The places for desktops of chats, up to a limit, and the queue of chats that wait for one.

A chat that waits long for a person gives its place back and keeps its desktop, which does not count
while the machine has memory for further ones. It queues for a place before it works on.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection

from deskhand.tools.conversation.errors import NoDesktop

from .ports import DesktopSource

BLOCKED = (
    "all {} desktops with a display belong to agents that wait for this one or for others in the "
    'queue; share the desktop of its parent (desktop "shared"), or raise the setting most_desktops'
)

Start = Callable[[], Awaitable[str]]
"""Starts a desktop, or its display, and returns the desktop's id when it is ready."""


class DesktopPool:
    """The chats that have a desktop of their own, and those that wait for one.

    ``released`` is awaited with the id of a chat whose desktop is about to end. ``in_use`` returns
    whether the desktop of a chat at rest is in use all the same. ``clock`` returns seconds.
    """

    def __init__(
        self,
        machines: DesktopSource,
        limit: int,
        released: Callable[[str], Awaitable[None]],
        in_use: Callable[[str, str], Awaitable[bool]],
        clock: Callable[[], float],
    ) -> None:
        self._clock = clock
        self._machines = machines
        self._limit = limit
        self._released = released
        self._used = in_use
        self._desktops: dict[str, str | None] = {}
        """Id of the desktop by chat; ``None`` while it starts."""
        self._resting: dict[str, float] = {}
        """Chats whose desktop is idle, and since when; the longest idle first."""
        self._given: set[str] = set()
        """Chats that have given their place back and keep their desktop."""
        self._waiting: dict[str, asyncio.Event] = {}
        self._above: dict[str, frozenset[str]] = {}
        """Ancestors of the chats that wait."""
        self._expected: dict[str, None] = {}
        """Chats that were announced and have not requested their desktop yet."""

    def position(self, chat_id: str) -> int | None:
        """Return a chat's position in the queue, from 1, or ``None`` when it does not wait."""
        if chat_id in self._waiting:
            return list(self._waiting).index(chat_id) + 1
        if chat_id not in self._expected:
            return None
        # Idle desktops count as room, because they end as soon as another chat needs one.
        room = self._limit - self._taken() + len(self._resting)
        position = len(self._waiting) + list(self._expected).index(chat_id) + 1 - max(room, 0)
        return position if position > 0 else None

    def expect(self, chat_id: str) -> None:
        """Record that a chat will request a desktop soon, so that its position is known before."""
        self._expected[chat_id] = None

    def adopt(self, chat_id: str, desktop_id: str) -> None:
        """Record the desktop that a chat had before the control plane was restarted."""
        self._desktops[chat_id] = desktop_id

    def holder(self, desktop_id: str) -> str | None:
        """Return the chat that has a desktop, or ``None``."""
        return next((chat for chat, held in self._desktops.items() if held == desktop_id), None)

    def held(self, chat_id: str) -> str | None:
        """Return the chat's desktop; ``None`` if it has none that runs."""
        held = self._desktops.get(chat_id)
        return held if held is not None and self._machines.known(held) else None

    @property
    def resting(self) -> tuple[str, ...]:
        """The chats whose desktops are idle, the one that is idle for longest first."""
        return tuple(self._resting)

    def rests(self, chat_id: str) -> bool:
        """Return whether the chat's desktop is idle."""
        return chat_id in self._resting

    async def acquire(self, chat_id: str, start: Start, above: Collection[str] = ()) -> str:
        """Return the chat's desktop; start one as soon as the limit permits.

        ``above`` are the ancestors of the chat.

        Raises:
            NoDesktop: If only chats have desktops that wait for this chat or others in the queue.
        """
        self._expected.pop(chat_id, None)
        self._resting.pop(chat_id, None)
        held = self.held(chat_id)
        if held is not None:
            return held
        await self._wait_for_room(chat_id, above)
        self._desktops[chat_id] = None
        try:
            desktop_id = await start()
        except BaseException:
            # Cancellation included: the place must become free for the next chat.
            self.forget(chat_id)
            raise
        self._desktops[chat_id] = desktop_id
        return desktop_id

    def give_back(self, chat_id: str) -> None:
        """Give the place of a chat to others; it keeps its desktop."""
        if self._desktops.get(chat_id):
            self._given.add(chat_id)
            self._wake()

    async def take_again(self, chat_id: str) -> None:
        """Return when a chat that gave its place back has one again, in its turn of the queue."""
        if chat_id in self._given and self.held(chat_id) is not None:
            await self._wait_for_room(chat_id, ())
        self.keep(chat_id)

    def keep(self, chat_id: str) -> None:
        """Give a chat its place again at once, even if there are too many then."""
        self._given.discard(chat_id)

    def rest(self, chat_id: str) -> None:
        """Mark the desktop as idle: it may be released when another chat needs one."""
        self._expected.pop(chat_id, None)
        if self._desktops.get(chat_id):
            # Removed first, as an existing key keeps its place.
            self._resting.pop(chat_id, None)
            self._resting[chat_id] = self._clock()
            # A chat in the queue may get this desktop's place.
            self._wake()

    async def release_idle(self, seconds: float, besides: Collection[str] = ()) -> None:
        """Release the desktops that have been idle for so long and are not in use.

        Those of the chats ``besides`` stay.
        """
        for chat_id, since in list(self._resting.items()):
            if chat_id in besides or self._clock() - since < seconds:
                continue
            if not await self._in_use(chat_id):
                await self._release_resting(chat_id)
        # A desktop that a person watched at the last check may be free by now.
        self._wake()

    async def release_some(self, desktop_ids: Collection[str], most: int) -> int:
        """Release the ``most`` of the desktops that are idle for longest and not in use.

        Return how many were released.
        """
        released = 0
        for chat_id in list(self._resting):
            if released == most:
                break
            if self._desktops.get(chat_id) in desktop_ids and not await self._in_use(chat_id):
                await self._release_resting(chat_id)
                released += 1
        return released

    async def release(self, chat_id: str) -> None:
        """End the chat's desktop, if it has one of its own."""
        self._expected.pop(chat_id, None)
        desktop_id = self._desktops.get(chat_id)
        if desktop_id is None:
            return
        # Forget it first: a message that arrives now must not get the desktop that ends.
        self.forget(chat_id)
        await self._released(chat_id)
        await self._machines.release(desktop_id)

    def forget(self, chat_id: str) -> None:
        """Free the place of a chat; its desktop continues."""
        self._resting.pop(chat_id, None)
        self._desktops.pop(chat_id, None)
        self._given.discard(chat_id)
        self._wake()

    async def _wait_for_room(self, chat_id: str, above: Collection[str]) -> None:
        if chat_id not in self._given:
            self._desktops.pop(chat_id, None)
        woken = self._waiting[chat_id] = asyncio.Event()
        self._above[chat_id] = frozenset(above)
        try:
            while not await self._room(chat_id):
                if await self._is_deadlock():
                    raise NoDesktop(BLOCKED.format(self._limit))
                await woken.wait()
                # Clear before the next check: a change during that check must not be missed.
                woken.clear()
        finally:
            del self._waiting[chat_id], self._above[chat_id]
            # The next chat in the queue has become the first and must check for room itself.
            self._wake()

    async def _is_deadlock(self) -> bool:
        """Return whether every desktop is kept by a chat above one that waits here."""
        if self._taken() < self._limit:
            return False
        waited = frozenset[str]().union(*self._above.values())
        for chat_id in list(self._desktops):
            if chat_id not in waited:
                return False
            if chat_id in self._resting and not await self._in_use(chat_id):
                return False
        return True

    async def _room(self, chat_id: str) -> bool:
        counts = chat_id in self._given and not self._machines.has_memory()
        # A desktop that counts all the same takes nothing from those before it in the queue.
        if self.position(chat_id) != 1 and not counts:
            return False
        # Desktops that ended by themselves no longer count.
        for chat, desktop_id in list(self._desktops.items()):
            if desktop_id is not None and not self._machines.known(desktop_id):
                self._resting.pop(chat, None)
                self._given.discard(chat)
                del self._desktops[chat]
        for resting in list(self._resting):
            if self._taken(chat_id) < self._limit:
                break
            if not await self._in_use(resting):
                await self._release_resting(resting)
        return self._taken(chat_id) < self._limit

    def _taken(self, besides: str = "") -> int:
        """Return the number of places that are taken, but for one of the chat ``besides``."""
        given = self._given if self._machines.has_memory() else ()
        return sum(chat != besides and chat not in given for chat in self._desktops)

    async def _in_use(self, chat_id: str) -> bool:
        desktop_id = self._desktops.get(chat_id)
        return desktop_id is not None and await self._used(chat_id, desktop_id)

    async def _release_resting(self, chat_id: str) -> None:
        # A message may have arrived while the desktop was asked whether a person uses it.
        if chat_id in self._resting:
            await self.release(chat_id)

    def _wake(self) -> None:
        for waiting in self._waiting.values():
            waiting.set()
