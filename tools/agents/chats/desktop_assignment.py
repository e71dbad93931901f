"""Assignment of a desktop to each chat, and access to it.

A chat requests its own desktop, its parent's (shared), one by id, or none. The assignment stores
the id of the desktop with the chat, never its address, which is looked up at each call.

A desktop that is lost between turns is replaced, and the model is told so. One that is lost after
the turn has made its first tool call ends the turn: the model would go on acting on a screen that
does not exist any more.
"""

from collections.abc import Callable

from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.agents.desktops.pool import DesktopPool
from deskhand.tools.agents.desktops.ports import DesktopMachine, DesktopSource
from deskhand.tools.conversation.errors import NoDesktop
from deskhand.tools.conversation.states import BUSY
from deskhand.tools.store import chats, steps
from deskhand.tools.store.schema import ChatRow

from .repository import ChatRepository

OWN = "own"
SHARED = "shared"
LOST = "desktop lost"


class DesktopAssignment:
    """Finds and keeps the desktops of chats."""

    def __init__(
        self, repository: ChatRepository, machines: DesktopSource, clock: Callable[[], float]
    ) -> None:
        self._repository = repository
        self._machines = machines
        self._pool = DesktopPool(machines, repository.settings.desktops, self._forget, clock)

    async def prepare(self, chat_id: str) -> bool:
        """Ensure that a chat has the desktop it requested.

        Return whether it is a new desktop in place of an earlier one.

        Raises:
            NoDesktop: If it was lost in the middle of a turn, or does not exist.
        """
        chat, has_steps = await self._repository.store.read(
            lambda s: _chat_and_has_steps(s, chat_id)
        )
        if chat.requested_desktop is None:
            return False
        if chat.desktop_id is not None and self._machines.known(chat.desktop_id):
            if chat.requested_desktop == OWN:
                # The pool must count the desktop as in use again; it was idle between the turns.
                await self._pool.acquire(chat_id, chat.title)
            return False
        if chat.desktop_id is not None and has_steps:
            raise NoDesktop(LOST)
        desktop_id = await self._find(chat)
        await self._repository.change(chat_id, lambda row: setattr(row, "desktop_id", desktop_id))
        return chat.turn > 1

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
            return parent.desktop_id or await self._machines.default()
        requested = chat.requested_desktop or ""
        if not self._machines.known(requested):
            raise NoDesktop(f"no desktop has the id {requested}")
        return requested

    async def _forget(self, chat_id: str) -> None:
        await self._repository.change(chat_id, lambda row: setattr(row, "desktop_id", None))


async def _chat_and_has_steps(session: AsyncSession, chat_id: str) -> tuple[ChatRow, bool]:
    chat = await chats.get(session, chat_id)
    return chat, bool(await steps.of_turn(session, chat_id, chat.turn))
