"""Drives the turns of chats that this control plane has claimed, of several on one database.

A chat at work has one driver. Each control plane writes a heartbeat, and claims chats whose driver
is dead or has left; a claim raises the generation of the chat (:mod:`~deskhand.tools.store.rows`).
A control plane is dead after 10 s without a heartbeat, or 2 s after the end of its connection for
notices, which holds a lock.

- A chat that gets work here is claimed here, unless a living control plane drives it: that one
  reads its chats with every heartbeat, and starts or interrupts what others have changed.
- A claimed chat gets a task. Its writes name the generation, and its requests to the desktop, so
  that both refuse them after another control plane has taken it over; the turn then ends here.
- The generation of a chat changes here only while it has no task: a turn never gets another one.
- `most` chats are claimed at once, so that those of a dead control plane spread over the others.
- A chat at rest has no driver. `close` stops claiming, puts the turns back, and leaves them.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Self

from deskhand.tools.conversation.states import ChatState
from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import StoreError
from deskhand.tools.store.rows import claims, planes
from deskhand.tools.store.rows.claims import Claim

from .port import TurnTasks

log = logging.getLogger(__name__)

CHECK_SECONDS = 1.0
"""Between two checks; every second one writes a heartbeat (`planes.BEAT_SECONDS`)."""
OVER_SECONDS = 0.2
"""Between two checks whether another control plane still drives a chat."""
MOST = 5
"""Chats claimed at once from control planes that are dead."""


class Driver:
    """The claims of one control plane; ``plane`` is its id, ``address`` where others reach it."""

    _turns: TurnTasks

    def __init__(self, store: Store, plane: str, address: str) -> None:
        self._store = store
        self.plane = plane
        self._address = address
        self._generations: dict[str, int] = {}
        self._claims = True
        self._unlocked: frozenset[str] = frozenset()
        """Control planes without a lock at the last check."""
        self._starting: set[asyncio.Task[None]] = set()
        self.on_claimed: Callable[[], None] = lambda: None
        """Called when chats of another control plane were taken over."""

    def drive(self, turns: TurnTasks) -> Self:
        """Take the tasks of this control plane, which start for claimed chats alone."""
        self._turns = turns
        return self

    @property
    def chat_ids(self) -> frozenset[str]:
        """Ids of the chats that have a task here."""
        return self._turns.chat_ids

    def generation_of(self, chat_id: str) -> int:
        """Return the generation under which this control plane drives a chat; -1 if it does not."""
        # No chat has it, so that a turn without a claim is refused at its first write.
        return self._generations.get(chat_id, -1)

    def start(self, chat_id: str) -> None:
        """Claim a chat that has got work and start its task, unless another one drives it."""
        task = asyncio.create_task(self._start(chat_id), name=f"claim {chat_id}")
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)

    def ensure(self, chat_id: str) -> None:
        """Claim a chat and start its task, unless it has one."""
        if chat_id not in self._turns.chat_ids:
            self.start(chat_id)

    def interrupt(self, chat_id: str) -> None:
        """Cancel the current run of a chat; another driver finds the interruption by itself."""
        self._turns.interrupt(chat_id)

    async def over(self, chat_id: str) -> None:
        """Return when the chat has no task here any more, and no other one drives it.

        Raises:
            StoreError: If the database cannot be read.
        """
        await self._turns.over(chat_id)
        while True:
            others = partial(claims.is_driven, chat_id=chat_id, besides=self.plane)
            if not await self._store.read(others):
                return
            await asyncio.sleep(OVER_SECONDS)

    async def open(self, *, alone: bool = False) -> None:
        """Write the first heartbeat; nothing can be claimed before.

        ``alone`` if every other control plane of the database has ended.

        Raises:
            StoreUnavailable: If the database cannot be written.
        """
        if alone:
            await self._store.write(planes.leave_all)
        await self._store.write(lambda s: planes.beat(s, self.plane, self._address))

    async def run(self, seconds: float = CHECK_SECONDS) -> None:
        """Write heartbeats, and claim the chats of dead control planes; never return."""
        while True:
            # A control plane that cannot write for too long is dead for the others.
            with suppress(StoreError):
                await self.beat()
                await asyncio.sleep(seconds)
                await self.check()
            await asyncio.sleep(seconds)

    async def beat(self, most: int = MOST) -> tuple[str, ...]:
        """Write a heartbeat, start what others have changed; return the chats claimed now.

        Raises:
            StoreError: If the database cannot be read or written.
        """
        await self._store.write(lambda s: planes.beat(s, self.plane, self._address))
        return await self.check(most)

    async def check(self, most: int = MOST) -> tuple[str, ...]:
        """Start what others have changed; return the chats claimed now.

        Raises:
            StoreError: If the database cannot be read or written.
        """
        if not self._claims:
            return ()
        await self._follow(await self._store.read(lambda s: claims.driven_by(s, self.plane)))
        # A turn that begins later gets its generation by a claim.
        kept = self._turns.chat_ids
        self._generations = {c: g for c, g in self._generations.items() if c in kept}
        unlocked = await self._store.read(planes.unlocked)
        # A connection that was lost is made again at once: two checks without a lock are an end.
        dead, self._unlocked = (unlocked & self._unlocked) - {self.plane}, unlocked
        found = await self._store.write(lambda s: claims.claim(s, self.plane, most, dead))
        for chat_id, generation in found.items():
            log.info("chat %s is driven here now, under the generation %d", chat_id, generation)
            await self._drive(chat_id, generation)
        if found:
            self.on_claimed()
        return tuple(found)

    async def follow(self, chat_id: str) -> None:
        """Start or interrupt the turn of a chat that another control plane has changed.

        Raises:
            StoreError: If the database cannot be read.
        """
        driven = await self._store.read(lambda s: claims.driven_by(s, self.plane, chat_id))
        if self._claims:
            await self._follow(driven)

    async def close(self, seconds: float = 0.0) -> None:
        """Put back the turns that are running, and leave the chats to other control planes."""
        self._claims = False
        await asyncio.gather(*self._starting, return_exceptions=True)
        await self._turns.close(seconds)
        with suppress(StoreError):
            await self._store.write(lambda s: claims.release(s, self.plane))
            await self._store.write(lambda s: planes.leave(s, self.plane))

    async def _start(self, chat_id: str) -> None:
        if not self._claims:
            return
        try:
            claimed = await self._store.write(lambda s: claims.claim_one(s, self.plane, chat_id))
        except StoreError as error:
            log.warning("chat %s is claimed later, with a heartbeat: %s", chat_id, error)
            return
        if claimed is not None and claimed.driver == self.plane:
            await self._drive(chat_id, claimed.generation)

    async def _follow(self, driven: Mapping[str, Claim]) -> None:
        for chat_id, claim in driven.items():
            if chat_id not in self._turns.chat_ids:
                await self._drive(chat_id, claim.generation)
            elif claim.state == ChatState.INTERRUPTING:
                self._turns.interrupt(chat_id)

    async def _drive(self, chat_id: str, generation: int) -> None:
        # A turn of an older claim, which another control plane had taken over meanwhile, ends at
        # its next write.
        while self._generations.get(chat_id, 0) < generation and chat_id in self._turns.chat_ids:
            await self._turns.over(chat_id)
        if self._generations.get(chat_id, 0) <= generation:
            self._generations[chat_id] = generation
            self._turns.start(chat_id)
