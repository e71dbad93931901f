"""The desktop that each chat works on.

- A chat for computer use that requested an ``own`` desktop gets one with a display.
- Any other root chat gets a desktop of its own when its first command runs. The display of such a
  desktop starts with its first use. No other root chat ever works on it: its user, files, processes
  and windows are those of one chat and its children.
- A child without a desktop of its own works on the desktop of its root chat.

Desktops with and without a display have separate limits. When the display of a desktop starts, the
desktop takes a place among those with a display, and waits in their queue if there is none.

A desktop at rest is not released while a chat at work, or a call from outside, uses it.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Literal
from weakref import WeakValueDictionary

from deskhand.desktop.network.egress import Egress, from_json
from deskhand.tools.agents.chat_repository.repository import ChatRepository
from deskhand.tools.agents.desktops.pool import DesktopPool
from deskhand.tools.agents.desktops.ports import DesktopMachine, DesktopSource
from deskhand.tools.agents.workdirs.rows import start_of
from deskhand.tools.conversation.chat_start import ChatStart
from deskhand.tools.conversation.errors import BadChatRequest, NoDesktop
from deskhand.tools.conversation.states import BUSY
from deskhand.tools.store import chats
from deskhand.tools.store.schema import ChatRow

OWN = "own"
SHARED = "shared"
WITHOUT_DISPLAY = 10
"""Number of desktops without a display for each one that may have a display."""

Prepared = Literal["same", "first", "new", "lost"]


class DesktopAssignment:
    """Finds and keeps the desktops of chats."""

    def __init__(
        self, repository: ChatRepository, machines: DesktopSource, clock: Callable[[], float]
    ) -> None:
        self._repository = repository
        self._machines = machines
        limit = repository.settings.desktops
        common = (self._forget, self._in_use, clock)
        self._displayed = DesktopPool(machines, limit, *common)
        self._plain = DesktopPool(machines, WITHOUT_DISPLAY * limit, *common)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._calls: Counter[str] = Counter()
        """Running calls from outside, by root chat."""
        machines.on_wanted(self.show)

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
                await self._own(chat)
            else:
                await self.show(chat.desktop_id)
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
        chat = await self._repository.store.read_short(lambda s: chats.row_of(s, chat_id))
        if chat.requested_desktop is None or chat.desktop_id is None:
            return None
        if failed:
            return chat.desktop_id if await self._machines.lost(chat.desktop_id) else None
        return None if self._machines.known(chat.desktop_id) else chat.desktop_id

    async def machine(self, chat_id: str) -> DesktopMachine:
        """Return the machine of the chat's desktop, or of that of its root chat."""
        find = partial(chats.with_ancestors, chat_id=chat_id)
        chat, ancestors = await self._repository.store.read_short(find)
        if chat.requested_desktop is None or chat.desktop_id is None:
            desktop_id = await self._of_root(chat.root_id)
        else:
            desktop_id = chat.desktop_id
        return self._machines.machine(desktop_id, chat_id, ancestors)

    async def machine_of(self, desktop_id: str, chat_id: str) -> DesktopMachine:
        """Return a chat's access to a desktop that it uses, or has used."""
        ancestors = await self._repository.store.read(lambda s: chats.ancestors(s, chat_id))
        return self._machines.machine(desktop_id, chat_id, ancestors)

    async def show(self, desktop_id: str) -> None:
        """Start the display of a desktop that has none, as soon as there is room for one.

        Raises:
            NoDesktop: If it could not be started.
        """
        chat_id = self._plain.holder(desktop_id)
        if chat_id is not None:
            async with self._lock(chat_id):
                if self._plain.held(chat_id) == desktop_id:
                    await self._show(chat_id, desktop_id)

    @contextlib.contextmanager
    def calling(self, root_id: str) -> Iterator[None]:
        """Keep the desktop of a root chat during a call from outside, which has no turn."""
        self._calls[root_id] += 1
        try:
            yield
        finally:
            self._calls[root_id] -= 1
            # The time of rest counts from the last call.
            if self._plain.rests(root_id):
                self._plain.rest(root_id)

    def adopt(self, chat: ChatRow) -> None:
        """Record a desktop that a chat had before this program was started."""
        if chat.requested_desktop not in (OWN, None) or chat.desktop_id is None:
            return
        if self._machines.known(chat.desktop_id):
            displayed = self._machines.has_display(chat.desktop_id)
            pool = self._displayed if displayed else self._plain
            pool.adopt(chat.id, chat.desktop_id)
            if chat.state not in BUSY:
                pool.rest(chat.id)

    def expect(self, chat_id: str) -> None:
        """Record that the chat will soon request a desktop of its own."""
        self._displayed.expect(chat_id)

    def position(self, chat_id: str) -> int | None:
        """Return a chat's position in the queue for a desktop with a display, from 1."""
        return self._displayed.position(chat_id)

    def rest(self, chat_id: str) -> None:
        """Mark the chat's desktop as idle, so that another chat may get one in its place."""
        self._displayed.rest(chat_id)
        self._plain.rest(chat_id)

    async def release_idle(self, seconds: float) -> None:
        """End the desktops with a display that have been idle for so long and are not in use.

        One without a display holds little memory, and the files of its chat: it stays until its
        place is needed.
        """
        await self._displayed.release_idle(seconds)

    async def forget(self, root_id: str) -> None:
        """Remove what desktops keep for a root chat, after they have ended."""
        await self._machines.forget(root_id)

    async def release(self, chat_id: str) -> None:
        """End the chat's own desktop, if it has one."""
        await self._displayed.release(chat_id)
        await self._plain.release(chat_id)

    async def _find(self, chat: ChatRow) -> str:
        if chat.requested_desktop == OWN:
            return await self._own(chat)
        if chat.requested_desktop == SHARED:
            parent = await self._repository.view(chat.parent_id or chat.id)
            if parent.desktop_id is not None and self._machines.known(parent.desktop_id):
                shared = parent.desktop_id
            else:
                shared = await self._of_root(chat.root_id)
            await self.show(shared)
            return shared
        requested = chat.requested_desktop or ""
        if not self._machines.known(requested):
            raise NoDesktop(f"no desktop has the id {requested}")
        await self.show(requested)
        return requested

    async def _own(self, chat: ChatRow) -> str:
        """Return the chat's own desktop with its display."""
        above = await self._repository.store.read(lambda s: chats.ancestors(s, chat.id))
        start = await self._start(chat.id)
        async with self._lock(chat.id):
            plain = self._plain.held(chat.id)
            if plain is not None:
                await self._show(chat.id, plain)
                return plain
            await self._free_profile(start)
            return await self._displayed.acquire(
                chat.id,
                lambda: self._machines.acquire(
                    chat.id,
                    name=chat.title,
                    root_id=chat.root_id,
                    egress=self._egress(chat),
                    template=start.template,
                    profile=start.profile,
                ),
                above,
            )

    async def _of_root(self, root_id: str) -> str:
        """Return the desktop of a root chat; start one without a display if it has none."""
        # Before the lock: its holder may wait long, for room for the display.
        held = self._held(root_id)
        if held is not None:
            return held
        async with self._lock(root_id):
            held = self._held(root_id)
            if held is not None:
                return held
            root = await self._repository.store.read(lambda s: chats.get(s, root_id))
            start = await self._start(root_id)
            await self._free_profile(start)
            desktop_id = await self._plain.acquire(
                root_id,
                lambda: self._machines.acquire(
                    root_id,
                    name=root.title,
                    root_id=root_id,
                    egress=self._egress(root),
                    display=False,
                    template=start.template,
                    profile=start.profile,
                ),
            )
            view = await self._repository.change(
                root_id, lambda row: setattr(row, "desktop_id", desktop_id)
            )
            if view.state not in BUSY:
                self._plain.rest(root_id)
            return desktop_id

    def _held(self, chat_id: str) -> str | None:
        return self._displayed.held(chat_id) or self._plain.held(chat_id)

    async def _show(self, chat_id: str, desktop_id: str) -> None:
        async def start() -> str:
            await self._machines.show(desktop_id)
            return desktop_id

        await self._displayed.acquire(chat_id, start)
        rested = self._plain.rests(chat_id)
        self._plain.forget(chat_id)
        if rested:
            self._displayed.rest(chat_id)

    def _lock(self, chat_id: str) -> asyncio.Lock:
        return self._locks.setdefault(chat_id, asyncio.Lock())

    async def _in_use(self, chat_id: str, desktop_id: str) -> bool:
        if self._calls[chat_id] > 0 or await self._machines.in_use(desktop_id):
            return True
        busy = await self._repository.store.read(lambda s: chats.in_states(s, tuple(BUSY)))
        return any(
            row.desktop_id == desktop_id
            or (row.root_id == chat_id and row.requested_desktop is None)
            for row in busy
        )

    async def check_start(self, start: ChatStart) -> None:
        """Check that a desktop can be started with the template and the profile of a chat.

        Raises:
            BadChatRequest: If there is no such template, or a desktop in use has the profile.
        """
        if start.template is not None:
            await self._machines.check_template(start.template)
        held = await self._free_profile(start)
        if held is not None:
            chat_id = self._displayed.holder(held) or self._plain.holder(held)
            of_chat = "" if chat_id is None else f" of the chat {chat_id}"
            name = "of the template" if start.profile is None else start.profile
            raise BadChatRequest(f"the profile {name} is in use by the desktop {held}{of_chat}")

    async def _free_profile(self, start: ChatStart) -> str | None:
        """End the desktop at rest that has the profile of a start.

        Return the id of the desktop if it is in use: no other one can have the profile then.
        """
        held = await self._machines.having(start.profile, start.template)
        if held is None:
            return None
        for pool in (self._displayed, self._plain):
            holder = pool.holder(held)
            if holder is not None and pool.rests(holder) and not await self._in_use(holder, held):
                await pool.release(holder)
                return None
        return held

    async def _start(self, chat_id: str) -> ChatStart:
        start = await self._repository.store.read(lambda s: start_of(s, chat_id))
        return start or ChatStart()

    def _egress(self, chat: ChatRow) -> Egress:
        stored = None if chat.egress is None else from_json(chat.egress)
        return self._repository.settings.egress.bounded(stored)

    async def _forget(self, chat_id: str) -> None:
        await self._repository.change(chat_id, lambda row: setattr(row, "desktop_id", None))
