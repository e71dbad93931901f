"""Which desktop a chat works on, and the way there."""

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
    """Finds the desktops of chats. A chat stores an id, never an address."""

    def __init__(
        self, book: ChatRepository, machines: DesktopSource, clock: Callable[[], float]
    ) -> None:
        self._book = book
        self._machines = machines
        self._desks = DesktopPool(machines, book.settings.desktops, self._forget, clock)

    async def prepare(self, chat_id: str) -> bool:
        """See to it that a chat has the desktop it asked for; say whether it is a new one
        in place of another.

        Raises:
            NoDesktop: If it was lost in the middle of a turn, or is not there.
        """
        chat, begun = await self._book.store.read(lambda s: _chat_and_begun(s, chat_id))
        if chat.desktop_wish is None:
            return False
        if chat.desktop_id is not None and self._machines.known(chat.desktop_id):
            if chat.desktop_wish == OWN:
                await self._desks.acquire(chat_id, chat.title)
            return False
        if chat.desktop_id is not None and begun:
            raise NoDesktop(LOST)
        desktop_id = await self._find(chat)
        await self._book.change(chat_id, lambda row: setattr(row, "desktop_id", desktop_id))
        return chat.turn > 1

    async def machine(self, chat_id: str) -> DesktopMachine:
        """Return the way to the chat's desktop, or to the default one."""
        view = await self._book.view(chat_id)
        above = await self._book.store.read(lambda s: chats.ancestors(s, chat_id))
        desktop_id = view.desktop_id or await self._machines.default()
        return self._machines.machine(desktop_id, chat_id, above)

    def adopt(self, chat: ChatRow) -> None:
        """Take note of a desktop that a chat had before this program was started."""
        if chat.desktop_wish != OWN or chat.desktop_id is None:
            return
        if self._machines.known(chat.desktop_id):
            self._desks.adopt(chat.id, chat.desktop_id)
            if chat.state not in BUSY:
                self._desks.rest(chat.id)

    def expect(self, chat_id: str) -> None:
        """Note that the chat will ask for a desktop of its own soon."""
        self._desks.expect(chat_id)

    def place(self, chat_id: str) -> int | None:
        """Return a chat's place among those that wait for a desktop, from 1."""
        return self._desks.place(chat_id)

    def rest(self, chat_id: str) -> None:
        """Note that the chat could do without its desktop now."""
        self._desks.rest(chat_id)

    async def take_back(self, seconds: float) -> None:
        """End the desktops of chats at rest for so long, unless somebody uses them."""
        await self._desks.take_back(seconds)

    async def release(self, chat_id: str) -> None:
        """End the chat's own desktop, if it has one."""
        await self._desks.release(chat_id)

    async def _find(self, chat: ChatRow) -> str:
        if chat.desktop_wish == OWN:
            return await self._desks.acquire(chat.id, chat.title)
        if chat.desktop_wish == SHARED:
            parent = await self._book.view(chat.parent_id or chat.id)
            return parent.desktop_id or await self._machines.default()
        wanted = chat.desktop_wish or ""
        if not self._machines.known(wanted):
            raise NoDesktop(f"no desktop has the id {wanted}")
        return wanted

    async def _forget(self, chat_id: str) -> None:
        await self._book.change(chat_id, lambda row: setattr(row, "desktop_id", None))


async def _chat_and_begun(session: AsyncSession, chat_id: str) -> tuple[ChatRow, bool]:
    chat = await chats.get(session, chat_id)
    return chat, bool(await steps.of_turn(session, chat_id, chat.turn))
