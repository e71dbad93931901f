"""`deskhand place`: the placer, a child of a control plane, and the only process that uses Ray.

It ends with its standard input. Ray ends a process whose head is gone; this one ends by itself
before, with a status of its own, and the control plane starts it again. The next one waits for the
head without a connection, and places what needs no room meanwhile.
"""

import asyncio
import logging
import uuid
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from deskhand.tools.cluster.errors import BadAuthority, ClusterError
from deskhand.tools.cluster.placing.errors import CutOff, RayRefused, RoomsUnavailable
from deskhand.tools.cluster.placing.gates import Gates
from deskhand.tools.cluster.placing.placer import Placer
from deskhand.tools.cluster.trust import ClusterTls
from deskhand.tools.commands.exit_status import NOT_STARTED
from deskhand.tools.commands.terminal import START_ERRORS, print_error
from deskhand.tools.commands.terminal import settings as read_settings
from deskhand.tools.control_plane.settings import BadSetting, Settings
from deskhand.tools.store.backends.bus import Bus
from deskhand.tools.store.backends.leadership import Leadership
from deskhand.tools.store.backends.plane_lock import PLACE, PlaneLocks
from deskhand.tools.store.backends.postgres_bus import BusTimes, PostgresBus
from deskhand.tools.store.database import Store
from deskhand.vncbridge.server.standard_input import input_end

AGAIN = 75
"""Exit status of a placer that has to be started again (EX_TEMPFAIL)."""
TIMES = BusTimes(batch=0.01, poll=1.0, check=1.0)
"""Of the bus; the lock of the placer that leads is checked, and tried to get, as often."""
NEEDED = ("database", "certificates", "cluster")


def main() -> int:
    """Place desktops until the standard input ends; return the exit status."""
    try:
        settings = read_settings({})
        check_settings(settings)
        asyncio.run(_place(settings))
    except RayRefused as error:
        print_error(str(error))
        return NOT_STARTED
    except (RoomsUnavailable, CutOff) as error:
        print_error(f"{error}; the placer starts again")
        return AGAIN
    except START_ERRORS as error:
        print_error(str(error))
        return NOT_STARTED
    return 0


def check_settings(settings: Settings) -> None:
    """Check that nothing is missing.

    Raises:
        BadSetting: If a setting is.
    """
    for name in NEEDED:
        if not getattr(settings, name):
            raise BadSetting(name, "it is needed to place desktops on nodes, see docs/cluster.md")


def bus_of(url: str) -> tuple[Bus, Leadership]:
    """Return a placer's end of the bus of a database, and what shows whether it leads."""
    name = f"placer {uuid.uuid4()}"
    locks = PlaneLocks(name, PLACE)
    return PostgresBus(url, name, locks, times=TIMES), locks


async def _place(settings: Settings) -> None:
    # Warnings say what happens to desktops; the control plane shows them in its own log.
    level = getattr(logging, settings.log_level.upper())
    logging.basicConfig(level=level, format="deskhand place: %(message)s")
    tls = ClusterTls(Path(settings.certificates))
    if tls.own.member.role != "plane":
        raise BadAuthority(f"the certificate in {settings.certificates} is not of a control plane")
    rooms = _rooms(settings.cluster)
    try:
        async with await Store.open(settings.database) as store, Gates(tls) as gates:
            number = version("deskhand")
            bus, leadership = bus_of(settings.database)
            placer = Placer(bus, leadership, store, gates, rooms, settings.cluster, number)
            await _first(placer.run(), tls.run(), input_end())
    finally:
        await asyncio.to_thread(rooms.close)


def _rooms(address: str) -> Any:
    """Return the `Rooms` of Ray, which is installed where it is used."""
    try:
        module = import_module("deskhand.tools.cluster.placing.rooms")
    except ModuleNotFoundError as error:
        advice = "pip install 'deskhand[cluster]'"
        raise ClusterError(f"{error.name} is not installed; run {advice}") from error
    return module.Rooms(address)


async def _first(*works: Any) -> None:
    """Await the first of some works, whose error is raised; end the others."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
