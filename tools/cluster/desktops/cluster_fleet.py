"""The desktops of nodes: ordered in rows, started by the placer, used through gates.

A control plane never starts a desktop itself. It inserts a row (`wanted`) and reports it. The
placer that leads chooses a node, starts the desktop there, and writes the row (`ready`, or
`refused` with the reason). The rows are read again at each report and every two seconds, so that
this control plane knows the desktops of all others; `locate` reads them at once for an unknown id.

- `ready` is the only state in which a desktop can be used. Which gate leads to it is in its row.
- Everyone may ask for an end (`ending`); the placer ends it on its node.
- `lost` is decided by the placer alone: its node is gone, or does not have it any more. Requests
  that wait for the desktop end then.
- `on_start` and `on_end` are called by the control plane that leads, so that one of them follows
  the reports of a desktop and stores what it has left.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Hashable, Sequence
from contextlib import suppress
from functools import partial
from typing import Self

from deskhand.desktop.client.http import DesktopClient
from deskhand.desktop.errors import DesktopRefused, DesktopUnavailable
from deskhand.desktop.network.egress import Egress
from deskhand.tools.cluster.trust import ClusterTls
from deskhand.tools.fleet.desktop_info import DesktopInfo
from deskhand.tools.fleet.desktop_order import DesktopOrder
from deskhand.tools.fleet.errors import DesktopNotStarted, UnknownDesktop
from deskhand.tools.fleet.first_uses import FirstUses
from deskhand.tools.fleet.service_process import START_SECONDS
from deskhand.tools.fleet.spawn_times import SpawnTimes
from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import StoreError
from deskhand.tools.store.rows import desktops as rows
from deskhand.tools.store.rows import nodes as node_rows
from deskhand.tools.store.rows.desktops import ENDING, LIVING, READY, STARTING, WANTED
from deskhand.tools.store.tables.base import database_time
from deskhand.tools.store.tables.desktops import DesktopRow
from deskhand.tools.templates.library import TemplateLibrary

from .cluster_profiles import ClusterProfiles
from .cluster_remains import ClusterRemains
from .cluster_uploads import ClusterUploads
from .gates import GateClients
from .placed import Placed, node_of, placed
from .revocations import NodeRevocations

log = logging.getLogger(__name__)
READ_SECONDS = 2.0
"""Between two readings of the rows without a report."""
END_SECONDS = 60.0
"""Longest wait for the end of a desktop; the placer ends it later, if its node is away."""
CROWDED_SECONDS = 5.0
"""Between two requests to end desktops at rest."""


class ClusterFleet:
    """The desktops of all nodes; an asynchronous context manager.

    ``report`` is called with the id of a desktop whose row was changed here. ``leads`` returns
    whether this control plane leads. ``live_url`` returns the address of a desktop's live view.
    """

    def __init__(
        self,
        store: Store,
        tls: ClusterTls,
        live_url: Callable[[str], str],
        templates: TemplateLibrary,
        speak: tuple[str, ...] = (),
        now: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._live_url = live_url
        self._speak = speak
        self._now = now
        self._placed = Placed()
        self._clients = GateClients(tls)
        self._begun: set[str] = set()
        """Ready desktops that `on_start` was called with."""
        self._reported = asyncio.Event()
        self._read_again = asyncio.Condition()
        self._readings = 0
        """Readings that have begun."""
        self._newest = 0
        """Number of the reading that is shown."""
        self._crowded_at = 0.0
        self._tasks: set[asyncio.Task[None]] = set()
        self._first_uses = FirstUses(self.client, self._waits_for_use)
        self._first_uses.on_use = lambda desktop_id: self.on_use(desktop_id)
        self.templates = templates
        self.profiles = ClusterProfiles(self._clients, lambda: self._placed)
        self.uploads = ClusterUploads(self._clients, lambda: self._placed)
        self.remains = ClusterRemains(
            self._clients, lambda: self._placed, asyncio.get_running_loop()
        )
        self.revocations = NodeRevocations(
            self._clients, lambda: self._placed, lambda: self.leads()
        )
        self.spawns = SpawnTimes()
        self.on_use: Callable[[str], Awaitable[None]] = self.show
        self.on_end: Callable[[str], None] = _ignore
        self.on_start: Callable[[str], None] = _ignore
        self.on_crowded: Callable[[frozenset[str], int], Awaitable[None]] = _release_none
        self.report: Callable[[str], None] = _ignore
        self.leads: Callable[[], bool] = bool

    async def __aenter__(self) -> Self:
        await self._read()
        self._start(self._run, "read the rows of desktops")
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._first_uses.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.revocations.close()
        await self._clients.close()

    def reported(self) -> None:
        """Read the rows again: another program has changed one."""
        self._reported.set()

    async def start(
        self,
        name: str | None = None,
        chat_id: str | None = None,
        egress: Egress | None = None,
        *,
        display: bool = True,
        workdir: str = "",
        speak: tuple[str, ...] | None = None,
        template: str | None = None,
        profile: str | None = None,
    ) -> DesktopInfo:
        """Order a desktop and return it once it is ready; cancelling ends it. See `Placement`."""
        recipe = await asyncio.to_thread(self.templates.get, template) if template else None
        text = await asyncio.to_thread(self.templates.text, template) if template else ""
        kept = profile or ("" if recipe is None else recipe.profile)
        if kept:
            self.profiles.check_free(kept, chat_id)
        order = DesktopOrder(
            *(secrets.token_hex(4), name, chat_id, egress.to_json() if egress else None),
            display=display,
            workdir=workdir,
            speak=self._speak if speak is None else speak,
            template=template or "",
            recipe=text,
            profile=kept,
        )
        begun = time.monotonic()
        desktop_id = await self._ordered(order)
        try:
            row = await self._until(desktop_id, lambda row: row.state not in (WANTED, STARTING))
        except BaseException:
            await asyncio.shield(self._ask_end(desktop_id))
            raise
        if row is None or row.state != READY:
            self.spawns = self.spawns.refused()
            raise DesktopNotStarted(
                row.reason if row is not None and row.reason else "it was ended"
            )
        self.spawns = self.spawns.succeeded(time.monotonic() - begun)
        return placed(row).info(self._live_url(row.id))

    async def _ordered(self, order: DesktopOrder) -> str:
        """Order a desktop; return its id, or that of the one that its chat has ordered before.

        A control plane that was killed while it waited for a desktop has not given it to its chat.
        """
        wanted, now = order.to_json(), self._now()
        once = partial(rows.order_once, desktop_id=order.id, chat_id=order.chat_id)
        desktop_id = await self._store.write(partial(once, wanted=wanted, created_at=now))
        self._changed(desktop_id)
        return desktop_id

    def position(self, chat_id: str) -> int | None:
        """Return the position in the queue, from 1, of a chat whose desktop waits for room."""
        return self._placed.position(chat_id)

    async def locate(self, desktop_id: str) -> None:
        """Read the rows if a desktop is not known here."""
        if self._placed.ready(desktop_id) is None:
            await self._read()

    def client(self, desktop_id: str) -> DesktopClient:
        """Return the client of a desktop; raise `UnknownDesktop` if none can be used."""
        found = self._placed.ready(desktop_id)
        if found is None:
            raise UnknownDesktop(desktop_id)
        return self._clients.desktop(found.gate, desktop_id)

    def placed(self) -> Placed:
        """Return the desktops and nodes as the rows were read last."""
        return self._placed

    def known(self, desktop_id: str) -> bool:
        """Return whether a desktop with this id can be used."""
        return self._placed.ready(desktop_id) is not None

    def has_display(self, desktop_id: str) -> bool:
        """Return whether the display of a desktop has been started."""
        found = self._placed.ready(desktop_id)
        return found is not None and found.has_display

    def chat_of(self, desktop_id: str) -> str | None:
        """Return the chat that a desktop was started for, None if there is none."""
        found = self._placed.ready(desktop_id)
        return None if found is None else found.chat_id

    async def list(self) -> tuple[DesktopInfo, ...]:
        """Return all desktops, newest first."""
        return tuple([one.info(self._live_url(one.id)) for one in self._placed.newest_first()])

    def states(self) -> Hashable:
        """Return a value that differs when `list` does."""
        return frozenset((one.id, one.has_display) for one in self._placed.newest_first())

    async def show(self, desktop_id: str) -> None:
        """Start the display of a desktop that has none; return when it can be used.

        Raises:
            UnknownDesktop: If no desktop has this id.
            DesktopRefused, DesktopUnavailable: If it does not start.
        """
        found = self._placed.ready(desktop_id)
        if found is None:
            raise UnknownDesktop(desktop_id)
        path = f"/desktops/{desktop_id}/display"
        gate = self._clients.gate(found.gate)
        facts = await gate.request("POST", path, timeout=START_SECONDS + END_SECONDS)
        ready = partial(rows.move, desktop_id=desktop_id, before=(READY,), state=READY, facts=facts)
        await self._store.write(ready)
        self._changed(desktop_id)
        await self._read()

    async def stop(self, desktop_id: str) -> None:
        """End a desktop after it has finished its recordings.

        Raises:
            UnknownDesktop: If no desktop has this id.
        """
        if not await self._ask_end(desktop_id):
            raise UnknownDesktop(desktop_id)
        with suppress(TimeoutError):
            async with asyncio.timeout(END_SECONDS):
                await self._until(desktop_id, lambda row: row.state not in LIVING)

    async def ended(self, desktop_id: str) -> None:
        """Return when a desktop is over, and its node can be asked for what it has left."""
        row = await self._until(desktop_id, lambda row: row.state not in LIVING)
        while row is not None and row.node in self._placed.nodes:
            if self._placed.nodes[row.node].is_up:
                return
            await self._next_reading()

    async def forget_workdir(self, name: str) -> None:
        """Remove a working directory on all nodes that can be reached."""
        for node in list(self._placed.nodes.values()):
            if node.is_up:
                with suppress(DesktopRefused, DesktopUnavailable):
                    await self._clients.gate(node.gate).request("DELETE", f"/workdirs/{name}")

    async def _ask_end(self, desktop_id: str) -> bool:
        before = (WANTED, STARTING, READY)
        end = partial(rows.move, desktop_id=desktop_id, before=before, state=ENDING)
        asked = await self._store.write(end)
        if asked:
            self._changed(desktop_id)
        await self._read()
        return asked

    async def _until(
        self, desktop_id: str, reached: Callable[[DesktopRow], bool]
    ) -> DesktopRow | None:
        """Return the row of a desktop once it is in a state, None if there is no row."""
        while True:
            row = await self._store.read(partial(rows.get, desktop_id=desktop_id))
            if row is None or reached(row):
                # Known here before the caller uses it.
                await self._read()
                return row
            await self._next_reading()

    async def _next_reading(self) -> None:
        async with self._read_again:
            await self._read_again.wait()

    def _changed(self, desktop_id: str) -> None:
        self.report(desktop_id)
        self._reported.set()

    async def _run(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(READ_SECONDS):
                    await self._reported.wait()
            self._reported.clear()
            try:
                await self._read()
            except StoreError as error:
                log.info("the rows of desktops are read later: %s", error)

    async def _read(self) -> None:
        """Read the rows as they are now; an older reading never replaces a newer one."""
        self._readings += 1
        number = self._readings
        found = await self._store.read(rows.living)
        nodes, now = await self._store.read(node_rows.every), await self._store.read(database_time)
        if number < self._newest:
            return
        self._newest = number
        before = self._placed
        self._placed = Placed(
            {row.id: placed(row) for row in found},
            {row.name: node_of(row, now) for row in nodes},
        )
        for desktop_id in before.desktops.keys() - self._placed.desktops.keys():
            # No packet tells that a host is gone: a call would wait for its whole timeout.
            await self._clients.forget(desktop_id)
            self._end(desktop_id)
        for one in self._placed.newest_first():
            self._begin(one.id)
        self._release_crowding()
        async with self._read_again:
            self._read_again.notify_all()

    def _begin(self, desktop_id: str) -> None:
        if desktop_id in self._begun or not self.leads():
            return
        self._begun.add(desktop_id)
        self.on_start(desktop_id)
        if not self.has_display(desktop_id):
            self._first_uses.watch(desktop_id)

    def _end(self, desktop_id: str) -> None:
        self._begun.discard(desktop_id)
        if self.leads():
            self.on_end(desktop_id)

    def _waits_for_use(self, desktop_id: str) -> bool:
        return self.leads() and self.known(desktop_id) and not self.has_display(desktop_id)

    def _release_crowding(self) -> None:
        crowding = self._placed.crowding()
        now = time.monotonic()
        if crowding and now - self._crowded_at >= CROWDED_SECONDS:
            self._crowded_at = now
            self._start(lambda: self._release(crowding), "release desktops at rest")

    async def _release(self, crowding: Sequence[tuple[frozenset[str], int]]) -> None:
        for desktop_ids, most in crowding:
            await self.on_crowded(desktop_ids, most)

    def _start(self, work: Callable[[], Awaitable[None]], name: str) -> None:
        async def logged() -> None:
            try:
                # Not before: a task that is cancelled before it begins would never await it.
                await work()
            except StoreError as error:
                log.warning("%s: %s", name, error)

        task = asyncio.create_task(logged(), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _ignore(desktop_id: str) -> None: ...


async def _release_none(desktop_ids: frozenset[str], most: int) -> None: ...
