"""Composition of what control planes of one database need of each other.

Here alone is chosen by which bus they exchange events and how one of them leads: a database on a
server, or a file, which no other control plane uses.
"""

import logging
import os
import uuid
from collections.abc import Collection
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deskhand.tools.agents.chats.chats import Chats
from deskhand.tools.agents.driving.driver import Driver
from deskhand.tools.cluster.moment import PeerAddress, listen_address
from deskhand.tools.control_plane.settings import Settings
from deskhand.tools.store.backends.bus import Bus
from deskhand.tools.store.backends.leadership import Leadership
from deskhand.tools.store.backends.local_bus import LocalBus
from deskhand.tools.store.backends.plane_lock import PlaneLocks
from deskhand.tools.store.backends.postgres_bus import MomentRelay, PostgresBus
from deskhand.tools.store.backends.sole_use import SoleUse
from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import StoreError
from deskhand.tools.store.rows import planes

from .late_modules import plane_moments
from .tasks import start_task

log = logging.getLogger(__name__)

REPLACED = 70
"""Exit status of a control plane that has lost its database to another one (EX_SOFTWARE)."""


@dataclass(frozen=True)
class SharedPlane:
    """This control plane, of those that use the database of a server."""

    driver: Driver
    relay: MomentRelay | None
    """None without the setting `internal_listen`."""


class Alone:
    """The leadership of a control plane whose database is a file, which no other one uses."""

    def leads(self) -> bool:
        """Return True."""
        return True


def join_planes(
    shared: SharedPlane | None, url: str, chats: Chats, nodes: Any | None, stack: AsyncExitStack
) -> Leadership:
    """Exchange events with other control planes, and drive chats, until the stack closes.

    ``nodes`` is the `ClusterFleet`, if desktops run on nodes.
    """
    bus: Bus = LocalBus()
    leadership: Leadership = Alone()
    if shared is not None:
        plane = shared.driver.plane
        leadership = locks = PlaneLocks(plane)
        bus = PostgresBus(url, plane, locks, shared.relay)
        start_task(stack, shared.driver.run(), "drive chats")
    events = chats.shared_events(bus, shared.driver if shared else None)
    if nodes is not None:
        nodes.report, events.on_desktops = events.report_desktop, nodes.reported
        nodes.leads = leadership.leads
    start_task(stack, events.run(), "publish events of other control planes")
    start_task(stack, bus.run(events), "exchange events with other control planes")
    return leadership


class LivingPeers:
    """The control planes that live, besides ``plane``; the last known ones without a database."""

    def __init__(self, store: Store, plane: str) -> None:
        self._store = store
        self._plane = plane
        self._known: tuple[PeerAddress, ...] = ()

    async def read(self) -> Collection[PeerAddress]:
        """Return the addresses of those that have one."""
        try:
            found = await self._store.read(planes.living)
        except StoreError as error:
            log.info("the control planes of the database cannot be read: %s", error)
        else:
            parsed = [PeerAddress.parse(at) for id, at in found.items() if id != self._plane]
            self._known = tuple([address for address in parsed if address is not None])
        return self._known


async def use_database(settings: Settings, stack: AsyncExitStack) -> None:
    """Take the lock of the database until the stack closes.

    Control planes whose desktops run on nodes share it; one that has its own desktops uses the
    database alone, because the others could not reach them.

    Raises:
        DatabaseInUse: If another control plane uses it.
        StoreUnavailable: If the server cannot be reached.
    """
    use = await SoleUse.begin(settings.database, shared=bool(settings.cluster))
    stack.push_async_callback(use.close)
    start_task(stack, _end_when_replaced(use), "keep the lock of the database")


async def open_plane(
    settings: Settings, store: Store, address: str, stack: AsyncExitStack
) -> SharedPlane:
    """Return a control plane on the database of a server; ``address`` is that of its pages.

    Raises:
        ClusterError: If its certificate cannot be used.
        OSError: If it cannot listen for other control planes.
        StoreUnavailable: If the database cannot be written.
    """
    plane, moments = str(uuid.uuid4()), None
    if settings.internal_listen:
        place, peers = listen_address(settings.internal_listen), LivingPeers(store, plane)
        opening = plane_moments(Path(settings.certificates), *place, peers.read)
        moments = await stack.enter_async_context(opening)
    reached = str(moments.address) if moments is not None else address
    driver = Driver(store, plane, reached)
    # Without nodes, the lock of the database shows that every other control plane has ended.
    await driver.open(alone=not settings.cluster)
    return SharedPlane(driver, moments)


async def _end_when_replaced(use: SoleUse) -> None:
    await use.run()
    log.critical("another control plane uses the database now; this one ends at once")
    # Any end in order would write to the chats that the other one continues.
    os._exit(REPLACED)
