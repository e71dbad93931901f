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
from deskhand.tools.agents.desktops.given_places import GivenPlaces
from deskhand.tools.agents.desktops.pool import DesktopPool
from deskhand.tools.agents.desktops.ports import DesktopMachine, DesktopSource
from deskhand.tools.agents.workdirs.rows import start_of
from deskhand.tools.conversation.chat_start import ChatStart
from deskhand.tools.conversation.errors import BadChatRequest, NoDesktop
from deskhand.tools.conversation.states import BUSY
from deskhand.tools.kit.support.spec import MachineRefused, MachineUnavailable
from deskhand.tools.store import chats, steps
from deskhand.tools.store.errors import UnknownRow
from deskhand.tools.store.rows import claims
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
        pools = self._displayed, self._plain
        after = repository.settings.question_place_seconds
        self.given_places = GivenPlaces(pools, self.machine, self._works, after)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._calls: Counter[str] = Counter()
        """Running calls from outside, by root chat."""
        machines.on_wanted(self.show)
        machines.on_crowded(self.make_room)

    async def prepare(self, chat_id: str) -> Prepared:
        """Ensure that a chat has the desktop it requested.

        Return whether it is the ``same`` desktop, its ``first`` one, a ``new`` one in place of an
        earlier one, or a new one in place of one that was ``lost``.

        Raises:
            NoDesktop: If it does not exist, or could not be started.
            StaleDriver: If the chat is not driven here any more.
        """
        chat = await self._repository.store.read(lambda s: chats.get(s, chat_id))
        if chat.requested_desktop is None:
            return "same"
        if chat.desktop_id is not None and await self._runs(chat.desktop_id):
            if self._held(chat_id) is None:
                # Taken over from another control plane, with its desktop.
                self.adopt(chat)
            if chat.requested_desktop == OWN:
                # The pool must count the desktop as in use again; it was idle between the turns.
                await self._own(chat)
            else:
                await self.show(chat.desktop_id)
            return "same"
        desktop_id = await self._find(chat)
        await self._repository.change(
            chat_id, lambda row: setattr(row, "desktop_id", desktop_id), fenced=True
        )
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
        return None if await self._runs(chat.desktop_id) else chat.desktop_id

    async def machine(self, chat_id: str, generation: int = 0) -> DesktopMachine:
        """Return the machine of the chat's desktop, or of that of its root chat.

        A turn names the ``generation`` under which it drives the chat.
        """
        find = partial(chats.with_ancestors, chat_id=chat_id)
        chat, ancestors = await self._repository.store.read_short(find)
        if chat.requested_desktop is None or chat.desktop_id is None:
            desktop_id = await self._of_root(chat.root_id)
        else:
            desktop_id = chat.desktop_id
            await self._machines.locate(desktop_id)
        return self._machines.machine(desktop_id, chat_id, ancestors, generation)

    async def announce(self, chat_id: str, generation: int) -> None:
        """Report to the chat's desktop, if it has one, under which generation it is driven now."""
        find = partial(chats.with_ancestors, chat_id=chat_id)
        chat, ancestors = await self._repository.store.read_short(find)
        desktop_id = chat.desktop_id or self._held(chat.root_id)
        if desktop_id is None or not await self._runs(desktop_id):
            return
        machine = self._machines.machine(desktop_id, chat_id, ancestors, generation)
        # A desktop that does not answer has nothing to refuse; the turn finds it out by itself.
        with contextlib.suppress(MachineRefused, MachineUnavailable):
            await machine.request("GET", "/healthz")

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
        if chat_id is None and (chat_id := self._machines.chat_of(desktop_id)) is not None:
            # Started by another control plane of the database.
            self.adopt(await self._repository.store.read(lambda s: chats.get(s, chat_id)))
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

    async def take_over(self) -> None:
        """Record the desktops of chats at rest that no other control plane releases.

        They end like those that this one has started: after a long rest, or when the places of all
        nodes are taken.
        """
        latest = self._repository.now() - self._repository.settings.desktop_rest_seconds
        left = await self._repository.store.read(lambda s: claims.undriven(s, latest))
        for chat in left:
            if self._held(chat.id) is None:
                await self._record(chat)

    async def leave_continued(self) -> None:
        """Forget the desktops at rest of chats that another control plane has continued."""
        resting = (*self._displayed.resting, *self._plain.resting)
        besides = self._repository.plane or ""
        find = partial(claims.driven_elsewhere, chat_ids=resting, besides=besides)
        for chat_id in await self._repository.store.read(find):
            self.leave(chat_id)

    async def _record(self, chat: ChatRow) -> None:
        """Record the desktop of a chat, which another control plane may have just started."""
        if chat.desktop_id is not None:
            await self._machines.locate(chat.desktop_id)
        self.adopt(chat)

    def leave(self, chat_id: str) -> None:
        """Forget the own desktop of a chat that another control plane drives; it continues."""
        self._displayed.forget(chat_id)
        self._plain.forget(chat_id)

    def expect(self, chat_id: str) -> None:
        """Record that the chat will soon request a desktop of its own."""
        self._displayed.expect(chat_id)

    def position(self, chat_id: str) -> int | None:
        """Return a chat's position in the queue for a desktop with a display, from 1."""
        return self._displayed.position(chat_id) or self._machines.position(chat_id)

    def rest(self, chat_id: str) -> None:
        """Mark the chat's desktop as idle, so that another chat may get one in its place."""
        self._displayed.rest(chat_id)
        self._plain.rest(chat_id)

    async def release_idle(self) -> None:
        """End the desktops with a display that have been idle for long and are not in use.

        One without a display holds little memory, and the files of its chat: it stays until its
        place is needed.
        """
        seconds = self._repository.settings.desktop_rest_seconds
        # Programs may use it through another control plane.
        since, resting = self._repository.now() - seconds, self._displayed.resting
        find = partial(claims.changed_since, root_ids=resting, moment=since)
        changed = await self._repository.store.read(find) if self._repository.plane else ()
        await self._displayed.release_idle(seconds, changed)

    async def make_room(self, desktop_ids: frozenset[str], most: int) -> None:
        """End those of the desktops that are at rest and not in use: their places are needed."""
        released = await self._displayed.release_some(desktop_ids, most)
        await self._plain.release_some(desktop_ids, most - released)

    async def forget(self, root_id: str) -> None:
        """Remove what desktops keep for a root chat, after they have ended."""
        await self._machines.forget(root_id)

    async def release(self, chat_id: str) -> None:
        """End the chat's own desktop, if it has one."""
        if self._held(chat_id) is None:
            # Another control plane may have recorded it.
            with contextlib.suppress(UnknownRow):
                await self._record(
                    await self._repository.store.read(lambda s: chats.get(s, chat_id))
                )
        await self._displayed.release(chat_id)
        await self._plain.release(chat_id)

    async def _find(self, chat: ChatRow) -> str:
        if chat.requested_desktop == OWN:
            return await self._own(chat)
        if chat.requested_desktop == SHARED:
            parent = await self._repository.view(chat.parent_id or chat.id)
            if parent.desktop_id is not None and await self._runs(parent.desktop_id):
                shared = parent.desktop_id
            else:
                shared = await self._of_root(chat.root_id)
            await self.show(shared)
            return shared
        requested = chat.requested_desktop or ""
        if not await self._runs(requested):
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
            # Started by another control plane of the database.
            await self._record(root)
            held = self._held(root_id)
            if held is not None:
                return held
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

    async def _runs(self, desktop_id: str) -> bool:
        await self._machines.locate(desktop_id)
        return self._machines.known(desktop_id)

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
        used = await self._machines.in_use(desktop_id)
        return used or await self._works(chat_id, desktop_id)

    async def _works(self, chat_id: str, desktop_id: str) -> bool:
        """Return whether a chat at work, or a call from outside, uses the desktop of a chat."""
        if self._calls[chat_id] > 0:
            return True
        busy = await self._repository.store.read(lambda s: chats.in_states(s, tuple(BUSY)))
        return any(
            row.desktop_id == desktop_id
            or (row.root_id == chat_id and row.requested_desktop is None)
            for row in busy
        ) or await self._repository.store.read(lambda s: steps.called_outside(s, chat_id))

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
