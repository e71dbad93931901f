"""A control plane on the database of a server: its lock, its claims, and events of the others."""

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
from deskhand.tools.store.backends.leadership import Leadership
from deskhand.tools.store.backends.notice_channel import NoticeChannel
from deskhand.tools.store.backends.plane_lock import PlaneLocks
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
    """This control plane, of those that use a database."""

    driver: Driver
    moments: Any
    """`PlaneMoments`, loaded where they are wanted; None without the setting."""

    def join(
        self, url: str, store: Store, chats: Chats, nodes: Any | None, stack: AsyncExitStack
    ) -> Leadership:
        """Drive chats and exchange events with other control planes until the stack closes.

        ``nodes`` is the `ClusterFleet`, if desktops run on nodes.
        """
        driver = self.driver
        start_task(stack, driver.run(), "drive chats")
        shared = chats.shared_events(driver.plane, driver.follow)
        locks = PlaneLocks(driver.plane)
        channel = NoticeChannel(url, locks, shared.queue, shared.heard, shared.missed)
        if nodes is not None:
            nodes.report, shared.on_desktops = shared.report_desktop, nodes.reported
            nodes.leads = locks.leads
        start_task(stack, shared.run(), "publish events of other control planes")
        start_task(stack, channel.run(), "exchange events with other control planes")
        if self.moments is not None:
            shared.on_moment = self.moments.send
            peers = LivingPeers(store, driver.plane)
            exchange = self.moments.run(peers.read, shared.relay)
            start_task(stack, exchange, "exchange events of the moment")
        return locks


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


def is_alone() -> bool:
    """Return that this control plane leads: its database is a file, which no other one uses."""
    return True


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
    moments = None
    if settings.internal_listen:
        place = listen_address(settings.internal_listen)
        opening = plane_moments(Path(settings.certificates), *place)
        moments = await stack.enter_async_context(opening)
    reached = str(moments.address) if moments is not None else address
    driver = Driver(store, str(uuid.uuid4()), reached)
    # Without nodes, the lock of the database shows that every other control plane has ended.
    await driver.open(alone=not settings.cluster)
    return SharedPlane(driver, moments)


async def _end_when_replaced(use: SoleUse) -> None:
    await use.run()
    log.critical("another control plane uses the database now; this one ends at once")
    # Any end in order would write to the chats that the other one continues.
    os._exit(REPLACED)
