"""Composition of the desktops: the fleet, and the reading of what their networks refuse."""

import os
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path

from deskhand.desktop.isolation.data_dir import open_root, run_root
from deskhand.desktop.launch.limits import (
    DesktopLimits,
    GivenLimits,
    desktop_limits,
    limit_options,
)
from deskhand.tools.control_plane.settings import Settings, egress_policy
from deskhand.tools.fleet.fleet import Fleet
from deskhand.tools.fleet.refusals import RefusalFollower
from deskhand.tools.fleet.registry import DesktopRegistry
from deskhand.tools.fleet.workdirs import Workdirs
from deskhand.vncbridge.server.server import Address

WORKDIRS = "work"


def given_limits(settings: Settings) -> GivenLimits:
    """Return the limits of each desktop that an operator has set."""
    sizes = settings.desktop_processes, settings.desktop_memory_mib, settings.desktop_tmp_mib
    return GivenLimits(*sizes, settings.desktop_cpu_weight)


def limits_in_force(settings: Settings) -> DesktopLimits | None:
    """Return the limits of each desktop; None if this process cannot limit any."""
    if os.geteuid() != 0:
        return None
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return desktop_limits(machine, given_limits(settings))


async def open_fleet(
    settings: Settings, address: Address, environment: Mapping[str, str], stack: AsyncExitStack
) -> tuple[Fleet, Workdirs, RefusalFollower]:
    """Return the fleet, with the desktops of an earlier control plane; ``stack`` closes it."""
    root = run_root(os.geteuid(), environment)
    open_root(root)
    workdirs = Workdirs(Path(settings.workdirs or root / WORKDIRS), settings.data_dir)
    workdirs.prepare()
    # A Unix socket has no URL that a browser could open: links are paths then.
    base = "" if address.path is not None else address.url
    fleet = Fleet(
        DesktopRegistry(settings.data_dir / "run" / "desktops"),
        root,
        settings.data_dir / "logs",
        lambda desktop_id: f"{base}/desktops/{desktop_id}",
        (
            *("--browser", settings.browser, "--browser-sandbox", settings.browser_sandbox),
            *limit_options(given_limits(settings)),
            *("--uid-base", str(settings.uid_base)),
        ),
        hidden=(settings.data_dir.absolute(), workdirs.folder),
        egress=egress_policy(settings, root=os.geteuid() == 0).base,
    )
    refusals = await stack.enter_async_context(RefusalFollower(fleet.client))
    fleet.on_start = refusals.follow
    await fleet.open()

    async def close() -> None:
        await fleet.close(keep=settings.keep_desktops)

    stack.push_async_callback(close)
    return fleet, workdirs, refusals
