"""Composition of the desktops: the fleet, and the reading of what their networks refuse."""

import os
from contextlib import AsyncExitStack
from pathlib import Path

from deskhand.desktop.launch.limits import DesktopLimits, desktop_limits
from deskhand.tools.agents.workdirs.rows import uses_of_templates
from deskhand.tools.control_plane.settings import Settings
from deskhand.tools.fleet.fleet import Fleet
from deskhand.tools.fleet.placement.placement import Placement
from deskhand.tools.fleet.reports import ReportFollower
from deskhand.tools.kit.support.spec import Tool
from deskhand.tools.store.database import Store
from deskhand.tools.templates.library import TemplateLibrary
from deskhand.tools.templates.list_tool import ListTemplatesTool
from deskhand.vncbridge.server.server import Address

from .late_modules import node_desktops
from .launching import TEMPLATES, DesktopLaunching, given_limits, new_fleet


def limits_in_force(settings: Settings, launching: DesktopLaunching) -> DesktopLimits | None:
    """Return the limits of each desktop; None if none can be limited."""
    if not launching.has_root:
        return None
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return desktop_limits(machine, given_limits(settings))


async def open_desktops(
    settings: Settings,
    store: Store,
    address: Address,
    launching: DesktopLaunching,
    stack: AsyncExitStack,
) -> tuple[Placement, ReportFollower]:
    """Return the desktops of nodes, or those of this machine."""
    if not settings.cluster:
        return await open_fleet(settings, address, launching, stack)
    found: tuple[Placement, ReportFollower] = await node_desktops().open_node_fleet(
        settings, store, address, stack
    )
    return found


async def open_fleet(
    settings: Settings, address: Address, launching: DesktopLaunching, stack: AsyncExitStack
) -> tuple[Fleet, ReportFollower]:
    """Return the fleet, with the desktops of an earlier control plane; ``stack`` closes it."""
    # A Unix socket has no URL that a browser could open: links are paths then.
    base = address.page_url
    fleet = new_fleet(settings, lambda desktop_id: f"{base}/desktops/{desktop_id}", launching)
    reports = await stack.enter_async_context(ReportFollower(fleet.client))
    fleet.on_start = reports.follow
    await fleet.open()

    async def close() -> None:
        await fleet.close(keep=settings.keep_desktops)

    stack.push_async_callback(close)
    return fleet, reports


def templates_tool(data: Path, store: Store) -> Tool:
    """Return the tool that lists the templates of a data directory."""
    library = TemplateLibrary(data / TEMPLATES)
    return ListTemplatesTool(library, lambda: store.read(uses_of_templates))
