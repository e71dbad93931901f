"""The desktop that each chat works on, and the pool of desktops that chats have for themselves."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Literal

from deskhand.tools.agents.desktops.ports import DesktopMachine, DesktopSource
from deskhand.tools.conversation.errors import NoDesktop
from deskhand.tools.conversation.states import BUSY
from deskhand.tools.store import chats
from deskhand.tools.store.schema import ChatRow

from .repository import ChatRepository

OWN = "own"
SHARED = "shared"

Prepared = Literal["same", "first", "new", "lost"]


class DesktopAssignment:
    """Finds and keeps the desktops of chats."""

    def __init__(
        self, repository: ChatRepository, machines: DesktopSource, clock: Callable[[], float]
    ) -> None:
        self._repository = repository
        self._machines = machines
        self._pool = DesktopPool(machines, repository.settings.desktops, self._forget, clock)

    async def prepare(self, chat_id: str) -> Prepared:
        """Ensure that a chat has the desktop it requested.

        Return whether it is the ``same`` desktop, its ``first`` one, a ``new`` one in place of an
        earlier one, or a new one in place of one that was ``lost``.

        Raises:
            NoDesktop: If it does not exist, or could not be started.
        """
        chat = await self._repository.store.read(lambda s: chats.get(s, chat_id))
        if chat.requested_desktop is None:
            return "same"
        if chat.desktop_id is not None and self._machines.known(chat.desktop_id):
            if chat.requested_desktop == OWN:
                # The pool must count the desktop as in use again; it was idle between the turns.
                await self._pool.acquire(chat_id, chat.title)
            return "same"
        desktop_id = await self._find(chat)
        await self._repository.change(chat_id, lambda row: setattr(row, "desktop_id", desktop_id))
        if chat.desktop_id is not None:
            return "lost"
        return "new" if chat.turn > 1 else "first"

    async def lost(self, chat_id: str, *, failed: bool = False) -> str | None:
        """Return the id of the chat's desktop if it has ended.

        ``failed`` after a call that failed: a service that was just killed does not answer, and
        its keeper may still run.
        """
        chat = await self._repository.store.read(lambda s: chats.get(s, chat_id))
        if chat.requested_desktop is None or chat.desktop_id is None:
            return None
        if failed:
            return chat.desktop_id if await self._machines.lost(chat.desktop_id) else None
        return None if self._machines.known(chat.desktop_id) else chat.desktop_id

    async def machine(self, chat_id: str) -> DesktopMachine:
        """Return the machine of the chat's desktop, or of the default one."""
        view = await self._repository.view(chat_id)
        ancestors = await self._repository.store.read(lambda s: chats.ancestors(s, chat_id))
        desktop_id = view.desktop_id or await self._machines.default()
        return self._machines.machine(desktop_id, chat_id, ancestors)

    def adopt(self, chat: ChatRow) -> None:
        """Record a desktop that a chat had before this program was started."""
        if chat.requested_desktop != OWN or chat.desktop_id is None:
            return
        if self._machines.known(chat.desktop_id):
            self._pool.adopt(chat.id, chat.desktop_id)
            if chat.state not in BUSY:
                self._pool.rest(chat.id)

    def expect(self, chat_id: str) -> None:
        """Record that the chat will soon request a desktop of its own."""
        self._pool.expect(chat_id)

    def position(self, chat_id: str) -> int | None:
        """Return a chat's position in the queue for a desktop, from 1."""
        return self._pool.position(chat_id)

    def rest(self, chat_id: str) -> None:
        """Mark the chat's desktop as idle, so that another chat may get one in its place."""
        self._pool.rest(chat_id)

    async def release_idle(self, seconds: float) -> None:
        """End the desktops that have been idle for so long, unless a person uses them."""
        await self._pool.release_idle(seconds)

    async def release(self, chat_id: str) -> None:
        """End the chat's own desktop, if it has one."""
        await self._pool.release(chat_id)

    async def _find(self, chat: ChatRow) -> str:
        if chat.requested_desktop == OWN:
            return await self._pool.acquire(chat.id, chat.title)
        if chat.requested_desktop == SHARED:
            parent = await self._repository.view(chat.parent_id or chat.id)
            if parent.desktop_id is not None and self._machines.known(parent.desktop_id):
                return parent.desktop_id
            return await self._machines.default()
        requested = chat.requested_desktop or ""
        if not self._machines.known(requested):
            raise NoDesktop(f"no desktop has the id {requested}")
        return requested

    async def _forget(self, chat_id: str) -> None:
        await self._repository.change(chat_id, lambda row: setattr(row, "desktop_id", None))


class DesktopPool:
    """The chats that have a desktop of their own, and those that wait for one.

    ``released`` is awaited with the id of a chat whose desktop is about to end. ``clock`` returns
    seconds.
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
        """Id of the desktop by chat; ``None`` while it starts."""
        self._resting: dict[str, float] = {}
        """Chats whose desktop is idle, and since when; the longest idle first."""
        self._waiting: dict[str, asyncio.Event] = {}
        self._expected: dict[str, None] = {}
        """Chats that were announced and have not requested their desktop yet."""

    def position(self, chat_id: str) -> int | None:
        """Return a chat's position in the queue, from 1, or ``None`` when it does not wait."""
        if chat_id in self._waiting:
            return list(self._waiting).index(chat_id) + 1
        if chat_id not in self._expected:
            return None
        # Idle desktops count as room, because they end as soon as another chat needs one.
        room = self._limit - len(self._desktops) + len(self._resting)
        position = len(self._waiting) + list(self._expected).index(chat_id) + 1 - max(room, 0)
        return position if position > 0 else None

    def expect(self, chat_id: str) -> None:
        """Record that a chat will request a desktop soon, so that its position is known before."""
        self._expected[chat_id] = None

    def adopt(self, chat_id: str, desktop_id: str) -> None:
        """Record the desktop that a chat had before the control plane was restarted."""
        self._desktops[chat_id] = desktop_id

    async def acquire(self, chat_id: str, name: str) -> str:
        """Return the chat's desktop; start one as soon as the limit permits."""
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
            # Cancellation included: the place must become free for the next chat.
            self._forget(chat_id)
            raise
        self._desktops[chat_id] = desktop_id
        return desktop_id

    def rest(self, chat_id: str) -> None:
        """Mark the desktop as idle: it may be released when another chat needs one."""
        self._expected.pop(chat_id, None)
        if self._desktops.get(chat_id):
            self._resting[chat_id] = self._clock()
            # A chat in the queue may get this desktop's place.
            self._wake()

    async def release_idle(self, seconds: float) -> None:
        """Release the desktops that have been idle for so long and that no person uses."""
        for chat_id, since in list(self._resting.items()):
            if self._clock() - since >= seconds and not await self._in_use(chat_id):
                await self._release_resting(chat_id)
        # A desktop that a person watched at the last check may be free by now.
        self._wake()

    async def release(self, chat_id: str) -> None:
        """End the chat's desktop, if it has one of its own."""
        self._expected.pop(chat_id, None)
        desktop_id = self._desktops.get(chat_id)
        if desktop_id is None:
            return
        # Forget it first: a message that arrives now must not get the desktop that ends.
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
                # Clear before the next check: a change during that check must not be missed.
                woken.clear()
        finally:
            del self._waiting[chat_id]
            # The next chat in the queue has become the first and must check for room itself.
            self._wake()

    async def _room(self, chat_id: str) -> bool:
        if self.position(chat_id) != 1:
            return False
        # Desktops that ended by themselves no longer count.
        for chat, desktop_id in list(self._desktops.items()):
            if desktop_id is not None and not self._machines.known(desktop_id):
                self._resting.pop(chat, None)
                del self._desktops[chat]
        for resting in list(self._resting):
            if len(self._desktops) < self._limit:
                break
            if not await self._in_use(resting):
                await self._release_resting(resting)
        return len(self._desktops) < self._limit

    async def _in_use(self, chat_id: str) -> bool:
        desktop_id = self._desktops.get(chat_id)
        return desktop_id is not None and await self._machines.in_use(desktop_id)

    async def _release_resting(self, chat_id: str) -> None:
        # A message may have arrived while the desktop was asked whether a person uses it.
        if chat_id in self._resting:
            await self.release(chat_id)

    def _forget(self, chat_id: str) -> None:
        self._desktops.pop(chat_id, None)
        self._wake()

    def _wake(self) -> None:
        for waiting in self._waiting.values():
            waiting.set()
