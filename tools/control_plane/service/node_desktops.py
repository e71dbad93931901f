"""Composition of the desktops of a cluster: on nodes, placed by a program beside this one."""

import asyncio
import logging
import os
import sys
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

from deskhand.tools.agents.chats.chats import Chats
from deskhand.tools.cluster.desktops.cluster_fleet import ClusterFleet
from deskhand.tools.cluster.desktops.live_tickets import LiveTickets
from deskhand.tools.cluster.desktops.revocations import NodeRevocations
from deskhand.tools.cluster.trust import ClusterTls
from deskhand.tools.control_plane.settings import PREFIX, Settings
from deskhand.tools.fleet.reports import ReportFollower
from deskhand.tools.recovery.recovery import RecordingRecovery
from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import StoreError
from deskhand.tools.store.faults.policy import retry_delay
from deskhand.tools.templates.library import TemplateLibrary
from deskhand.vncbridge.auth.api import TicketUrl
from deskhand.vncbridge.server.server import Address

from .launching import TEMPLATES
from .tasks import start_task

log = logging.getLogger(__name__)
LEAD_SECONDS = 5.0
"""Between two checks for what nodes and control planes that have ended have left."""
RESTART_SECONDS = 2.0
"""Before the placer is started again; 60 s after the end of Ray's head, Ray ends it."""
LONGEST_RESTART_SECONDS = 30.0
LASTING_SECONDS = 60.0
"""After which a placer has worked, and the next one is started soon."""
END_SECONDS = 5.0
_PLACER = "import sys; from deskhand.tools.commands.cluster.place import main; sys.exit(main())"


async def open_node_fleet(
    settings: Settings, store: Store, address: Address, stack: AsyncExitStack
) -> tuple[ClusterFleet, ReportFollower]:
    """Return the desktops of nodes; ``stack`` closes the connections to them."""
    fleet = ClusterFleet(
        store,
        ClusterTls(Path(settings.certificates)),
        lambda desktop_id: f"{address.page_url}/desktops/{desktop_id}",
        TemplateLibrary(settings.data_dir / TEMPLATES),
        settings.speak,
    )
    await stack.enter_async_context(fleet)
    reports = await stack.enter_async_context(ReportFollower(fleet.client))
    fleet.on_start = reports.follow
    start_task(stack, _place(settings), "place desktops")
    return fleet, reports


def ticket_url(settings: Settings, fleet: ClusterFleet) -> TicketUrl:
    """Return the function that makes addresses of live views at nodes."""
    return LiveTickets(Path(settings.certificates), fleet.placed).url


def revocations(fleet: ClusterFleet) -> NodeRevocations:
    """Return the reports to nodes of credentials that have ended."""
    return fleet.revocations


def start_leading(
    stack: AsyncExitStack,
    chats: Chats,
    recovery: RecordingRecovery,
    leads: Callable[[], bool],
) -> None:
    """Start the task that takes over what others have left, while this control plane leads.

    It also leaves to others what they have continued.
    """
    start_task(stack, _take_over(chats, recovery, leads), "take over what others have left")


async def _take_over(chats: Chats, recovery: RecordingRecovery, leads: Callable[[], bool]) -> None:
    while True:
        await asyncio.sleep(LEAD_SECONDS)
        try:
            await chats.assignment.leave_continued()
            if not leads():
                continue
            await recovery.begin_all()
            await chats.end_cut_off_calls()
            await chats.assignment.take_over()
        except (StoreError, OSError) as error:
            log.warning("what others have left is taken over later: %s", error)


async def _place(settings: Settings) -> None:
    """Run the placer, again whenever it has ended."""
    program = (sys.executable, "-P", "-c", _PLACER)
    named = ("data_dir", "database", "certificates", "cluster", "log_level")
    given = {f"{PREFIX}{name.upper()}": str(getattr(settings, name)) for name in named}
    attempts = 0
    while True:
        begun = time.monotonic()
        # Its standard input is a pipe, whose end ends it: also when this process was killed.
        process = await asyncio.create_subprocess_exec(
            *program, stdin=asyncio.subprocess.PIPE, env={**os.environ, **given}
        )
        try:
            status = await process.wait()
        except asyncio.CancelledError:
            await _end(process)
            raise
        log.warning("the placer has ended with the status %s and is started again", status)
        # One that ends at once lacks what only an operator can change.
        attempts = 1 if time.monotonic() - begun >= LASTING_SECONDS else attempts + 1
        await asyncio.sleep(retry_delay(attempts, RESTART_SECONDS, LONGEST_RESTART_SECONDS))


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.stdin is not None:
        process.stdin.close()
    try:
        async with asyncio.timeout(END_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
