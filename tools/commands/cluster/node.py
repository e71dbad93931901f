"""`deskhand node`: the desktops of this host, for the control planes of a cluster.

    root: launcher                       starts desktops, keeps root
    user: gate, fleet, Ray's processes   this process, without root

The process executes itself once with the few variables that a node needs: what its starter had
besides, as the password of a database, is then nowhere in its memory.
"""

import asyncio
import contextlib
import logging
import os
import ssl
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from socket import socket
from typing import Any

import httpx2

from deskhand.desktop.launch_port.exec_launch import PASSED_ON
from deskhand.desktop.launch_port.fork_launch import MODE
from deskhand.tools.audit.chain_file import ChainFile
from deskhand.tools.cluster.authority_files import CERTIFICATE, IDENTITY, REVOKED
from deskhand.tools.cluster.errors import BadAuthority
from deskhand.tools.cluster.gate.gate import Gate, NodeFacts
from deskhand.tools.cluster.gate.live.ticket_journal import TicketJournal
from deskhand.tools.cluster.gate.live.views import LiveViews, Revocations
from deskhand.tools.cluster.gate.machine_room import machine_room
from deskhand.tools.cluster.gate.node_desktops import NodeDesktops
from deskhand.tools.cluster.gate.node_settings import (
    foreign_settings,
    node_environment,
    ray_environment,
)
from deskhand.tools.cluster.gate.planes_only import PlanesOnly
from deskhand.tools.cluster.gate.room import RoomLimits, room_problem
from deskhand.tools.cluster.gate.sightings import PlaneSightings
from deskhand.tools.cluster.gate.stored_routes import StoredRoutes
from deskhand.tools.cluster.gate.uploads import TIMEOUT, Uploads
from deskhand.tools.cluster.ray_node.ray_command import RayPlace, ray_command
from deskhand.tools.cluster.ray_node.ray_node import RayNode, check_token, ray_program
from deskhand.tools.cluster.tickets import PUBLIC_KEYS, TicketReader
from deskhand.tools.cluster.trust import ClusterTls
from deskhand.tools.commands.terminal import (
    START_ERRORS,
    check_data_dir,
    print_error,
    print_json,
    print_line,
)
from deskhand.tools.commands.terminal import settings as read_settings
from deskhand.tools.control_plane.data_dir_lock import held
from deskhand.tools.control_plane.permissions import close_to_others
from deskhand.tools.control_plane.process_user import (
    ProcessUser,
    StaysRoot,
    acting_as,
    become_user,
    process_user,
)
from deskhand.tools.control_plane.service.launching import DesktopLaunching, launching, new_fleet
from deskhand.tools.control_plane.service.tasks import start_task
from deskhand.tools.control_plane.settings import BadSetting, Settings
from deskhand.tools.fleet.errors import LauncherEnded
from deskhand.tools.fleet.fleet import Fleet
from deskhand.tools.remote_access.certificate import ServerCertificate
from deskhand.tools.remote_access.exposure import check_certificate_files
from deskhand.tools.service_manager.notification import READY, STOPPING, notify
from deskhand.vncbridge.server.json_logs import StandardError, logged
from deskhand.vncbridge.server.server import (
    Address,
    Serving,
    listening,
    parse_address,
    raise_descriptor_limit,
)

log = logging.getLogger(__name__)

NOT_STARTED = 4
UNUSED_SECONDS = 10.0
"""Between two searches for desktops on a node that no control plane uses."""
AUDIT = "audit.jsonl"
"""File of the node's records of the audit log, in the data directory."""
TICKETS = "tickets.jsonl"
"""File of the tickets that were used, in the data directory."""
WILDCARDS = ("0.0.0.0", "::", "")  # noqa: S104 - what is refused


@dataclass(frozen=True)
class OpenNode:
    """The parts of a node that runs."""

    app: PlanesOnly
    views: LiveViews
    desktops: NodeDesktops


def main(flags: Mapping[str, Any], name: str | None, linger: float, as_json: bool) -> int:
    """Serve until a signal; return the exit status.

    ``name`` must be that of the certificate. ``linger`` seconds after the last request of a control
    plane the desktops end.
    """
    _forget_variables()
    try:
        settings = _absolute(read_settings(flags))
        _check(settings)
        asyncio.run(_serve(settings, name, linger, as_json))
    except START_ERRORS as error:
        print_error(str(error))
        return NOT_STARTED
    return 0


def _forget_variables() -> None:
    """Execute this program again without the variables that a node must not have."""
    kept = node_environment(os.environ, frozenset((*PASSED_ON, MODE)))
    if kept != dict(os.environ):
        # Removed variables would stay in the memory of this process (proc_pid_environ(5)).
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], kept)  # noqa: S606


def _absolute(settings: Settings) -> Settings:
    """Return the settings with paths that stay the same in another current directory."""
    return replace(
        settings,
        certificates=_absolute_path(settings.certificates),
        tls_cert=_absolute_path(settings.tls_cert),
        tls_key=_absolute_path(settings.tls_key),
    )


def _absolute_path(text: str) -> str:
    return str(Path(text).expanduser().absolute()) if text else ""


def _check(settings: Settings) -> None:
    foreign = foreign_settings(settings.sources)
    if foreign:
        raise BadSetting(foreign[0], "a node does not use it and must not have it; remove it")
    if "listen" not in settings.sources:
        raise BadSetting("listen", "give the gate's address in the network of the cluster")
    address = parse_address(settings.listen)
    if address.host in WILDCARDS:
        raise BadSetting("listen", "give one HOST:PORT at which control planes reach this host")
    if not settings.certificates:
        raise BadSetting("certificates", "give the directory that deskhand ca node has written")
    if settings.public_listen and not settings.public_url.startswith(("wss://", "ws://")):
        raise BadSetting(
            "public_url", "give where viewers reach this node, as wss://n7.example.com"
        )


async def _serve(settings: Settings, name: str | None, linger: float, as_json: bool) -> None:
    check_data_dir(settings.data_dir)
    raise_descriptor_limit()
    folder = Path(settings.certificates)
    files = [folder / one for one in (CERTIFICATE, IDENTITY, REVOKED)]
    chosen = process_user(settings.run_as, settings.data_dir, files)
    user = chosen if isinstance(chosen, ProcessUser) else None
    if isinstance(chosen, StaysRoot):
        print_error(f"the node stays root: {chosen.because}; {chosen.remedy}")
    with ExitStack() as stack:
        with acting_as(user):
            for found in close_to_others(settings.data_dir):
                print_error(str(found))
            stack.enter_context(held(settings.data_dir))
        bound, address = stack.enter_context(listening(parse_address(settings.listen)))
        public = stack.enter_context(_public_port(settings))
        launched = stack.enter_context(launching(settings, os.environ, user))
        if user is not None:
            become_user(user)
        tls = _tls(folder, name)
        stack.enter_context(logged(settings.data_dir / "logs", shown=_shown(settings)))
        sightings = PlaneSightings(time.monotonic, linger)
        async with _node(settings, tls, launched, address, sightings) as node:
            ready = asyncio.Event()
            closing = node.desktops.drain
            server = Serving(node.app, ready.set, closing, tls=tls.server_context, certified=True)
            serving = asyncio.create_task(server.run_until_asked(bound), name="serve")
            try:
                async with _served_views(node.views, public) as viewers:
                    await _first(ready.wait(), serving)
                    _report(tls, address, viewers, settings, as_json)
                    notify(READY)
                    await _prepare(launched)
                    await _first(server.asked.wait(), serving)
            finally:
                notify(STOPPING)
                server.ask_to_end()
                await serving


def _tls(folder: Path, name: str | None) -> ClusterTls:
    tls = ClusterTls(folder)
    own = tls.own.member
    if own.role != "node" or name not in (None, own.name):
        wanted = "of a node" if name is None else f"of the node {name}"
        advice = "make one with deskhand ca node"
        raise BadAuthority(
            f"the certificate in {folder} is of the {own.role} {own.name}, not {wanted}; {advice}"
        )
    return tls


def _shown(settings: Settings) -> StandardError:
    return StandardError(settings.log_level, settings.log_format)


async def _first(event: Any, serving: "asyncio.Task[None]") -> None:
    waiting = asyncio.ensure_future(event)
    await asyncio.wait({waiting, serving}, return_when=asyncio.FIRST_COMPLETED)
    if not waiting.done():
        waiting.cancel()
        # The server has ended by itself: ``result`` raises its error.
        serving.result()


def _report(
    tls: ClusterTls, address: Address, viewers: str, settings: Settings, as_json: bool
) -> None:
    facts = {
        "name": tls.own.member.name,
        "url": _url(address),
        "viewers": viewers,
        "public_url": settings.public_url,
        "pid": os.getpid(),
        "version": version("deskhand"),
    }
    if as_json:
        print_json(facts)
        return
    print_line(f"The node {facts['name']} is at {facts['url']}, for control planes of its cluster")
    print_line(f"  places: {settings.places}; Ctrl-C ends it and its desktops")


def _url(address: Address) -> str:
    return Address(address.host, address.port, tls=True).url


async def _prepare(launched: DesktopLaunching) -> None:
    # Without its launcher a node still serves what there is.
    with contextlib.suppress(LauncherEnded, OSError):
        await asyncio.to_thread(launched.client.prepare)


@asynccontextmanager
async def _node(
    settings: Settings,
    tls: ClusterTls,
    launched: DesktopLaunching,
    address: Address,
    sightings: PlaneSightings,
) -> AsyncIterator[OpenNode]:
    """Open the parts, adopt the desktops of an earlier daemon, and close all at the end."""
    async with AsyncExitStack() as stack:
        fleet = await _fleet(settings, launched, sightings, stack)
        limits = RoomLimits(settings.places)
        folders = (launched.root, settings.data_dir)

        def problem(running: int, starting: int) -> str:
            return room_problem(limits, machine_room(folders), running, starting)

        desktops = NodeDesktops(fleet, problem)
        stack.push_async_callback(desktops.close)
        http = await stack.enter_async_context(httpx2.AsyncClient(timeout=TIMEOUT, trust_env=False))
        own = tls.own.member.name
        facts = NodeFacts(own, version("deskhand"), settings.places, settings.public_url)
        stored = StoredRoutes(fleet.remains, fleet.profiles, fleet)
        note = stack.enter_context(ChainFile(settings.data_dir / AUDIT, own, time.time)).note
        reader = TicketReader(Path(settings.certificates, PUBLIC_KEYS), own)
        used = stack.enter_context(TicketJournal(settings.data_dir / TICKETS, time.time()))
        views = LiveViews(reader, used, fleet.client, note=note)
        others = (
            *stored.routes,
            *Uploads(fleet.client, http, note).routes,
            *Revocations(views.revoke, note).routes,
        )
        gate = Gate(facts, desktops, fleet.client, fleet.profiles, others, note)
        app = PlanesOnly(gate, tls, sightings.seen)
        start_task(stack, tls.run(), "read the certificates again")
        start_task(stack, _end_unwanted(desktops, sightings), "end desktops without control plane")
        start_task(stack, app.run(), "end connections of revoked control planes")
        if settings.cluster:
            start_task(stack, _ray(settings, own, address).run(), "run Ray's processes")
        yield OpenNode(app, views, desktops)


async def _fleet(
    settings: Settings,
    launched: DesktopLaunching,
    sightings: PlaneSightings,
    stack: AsyncExitStack,
) -> Fleet:
    fleet = new_fleet(settings, lambda desktop_id: f"/desktops/{desktop_id}", launched)
    fleet.keeps_alive = sightings.recently
    await fleet.open()

    async def close() -> None:
        await fleet.close(keep=settings.keep_desktops)

    stack.push_async_callback(close)
    return fleet


async def _end_unwanted(desktops: NodeDesktops, sightings: PlaneSightings) -> None:
    while True:
        await asyncio.sleep(sightings.left or UNUSED_SECONDS)
        if not sightings.recently() and (ended := await desktops.stop_all()):
            log.warning("no control plane for %.0f s: %d desktops end", sightings.age, ended)


def _ray(settings: Settings, name: str, address: Address) -> RayNode:
    environment = ray_environment(os.environ)
    check_token(environment)
    place = RayPlace(
        *(settings.cluster, name, settings.places, address.host, address.port),
        first_port=settings.ray_port,
    )
    log_file = settings.data_dir / "logs" / "ray.log"
    command = ray_command(ray_program(), place)
    return RayNode(command, environment, log_file)


@dataclass(frozen=True)
class PublicPort:
    """Where viewers reach the node."""

    bound: socket
    address: Address
    tls: ssl.SSLContext | None


@contextlib.contextmanager
def _public_port(settings: Settings) -> Iterator[PublicPort | None]:
    """Listen for viewers, with the rights of root where the files and the port need them."""
    if not settings.public_listen:
        yield None
        return
    check_certificate_files(settings.tls_cert, settings.tls_key)
    tls = ServerCertificate(settings.tls_cert, settings.tls_key) if settings.tls_cert else None
    with listening(parse_address(settings.public_listen)) as (bound, address):
        yield PublicPort(
            bound, replace(address, tls=tls is not None), None if tls is None else tls.context
        )


@asynccontextmanager
async def _served_views(views: LiveViews, public: PublicPort | None) -> AsyncIterator[str]:
    """Serve them while the block runs; yield where, empty for nowhere."""
    if public is None:
        yield ""
        return
    ready = asyncio.Event()
    server = Serving(views, ready.set, tls=public.tls)
    serving = asyncio.create_task(server.serve(sockets=[public.bound]), name="serve viewers")
    try:
        await _first(ready.wait(), serving)
        yield public.address.url
    finally:
        server.ask_to_end()
        await serving
