"""Composition of the control plane: opens every part, connects them, closes them in reverse.

The order matters, as the exit stack closes in the reverse one. The chats are closed first, while
the desktops, the models and the database that their last turns need are still open. Then the
desktops end, then the database is closed. Logs are open the longest, with the redaction of secrets.
"""

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from fastapi import APIRouter, FastAPI

from deskhand.desktop.context.places import VARIABLES
from deskhand.desktop.mcp.api import McpEndpoint, add_mcp
from deskhand.tools.agents.chats.chats import Chats
from deskhand.tools.agents.desktops.ports import ChatSettings
from deskhand.tools.agents.driving.turn_tasks import Supervisor
from deskhand.tools.agents.foreign_pictures.foreign_pictures import StoredForeignPictures
from deskhand.tools.agents.providers.port import Model
from deskhand.tools.agents.providers.selection import Models
from deskhand.tools.agents.scripted.server import ScriptedModelServer
from deskhand.tools.audit.log import AuditLog
from deskhand.tools.control_plane.audit_trail import AuditTrail
from deskhand.tools.control_plane.pages import ErrorPageMiddleware, ErrorPages
from deskhand.tools.control_plane.pages import router as pages_router
from deskhand.tools.control_plane.process_user import ProcessUser, StaysRoot, own_name
from deskhand.tools.control_plane.protections import PlaneProtection, plane_protections
from deskhand.tools.control_plane.run_video.cutter import VideoCutter
from deskhand.tools.control_plane.run_video.filmstrips import Filmstrips
from deskhand.tools.control_plane.settings import Settings
from deskhand.tools.credentials.accepted import own_instance, read_token
from deskhand.tools.credentials.store_faults import StoreFaultMiddleware
from deskhand.tools.decoder.decoder import Decoder
from deskhand.tools.fleet.placement.allocator import DesktopAllocator
from deskhand.tools.fleet.placement.placement import Placement
from deskhand.tools.kit.save_playbook import SavePlaybookTool
from deskhand.tools.notifications.sender import NotificationSender
from deskhand.tools.notifications.webhook import Webhook
from deskhand.tools.recovery.recovery import RecordingRecovery
from deskhand.tools.remote_access.remote_access import remote_access
from deskhand.tools.remote_access.requests import RemoteRequests
from deskhand.tools.secrets.keys import StoreKeys
from deskhand.tools.secrets.store import SecretStore
from deskhand.tools.store.bucket import Bucket
from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import StoreError
from deskhand.tools.store.faults.reserve import StoreReserve
from deskhand.tools.store.file_store import FileStore
from deskhand.tools.store.files import finish_waiting
from deskhand.tools.store.maintenance import StorageMaintenance
from deskhand.tools.store.ownership import ChatOwnership
from deskhand.tools.store.rows.packed_pictures import PackedPictureRows
from deskhand.tools.store.stored_files import StoredFiles
from deskhand.tools.store.upload_queue import UploadQueue
from deskhand.vncbridge.auth.credentials import Credentials
from deskhand.vncbridge.auth.middleware import install_auth
from deskhand.vncbridge.auth.policy import AccessPolicy
from deskhand.vncbridge.http.add_routes import add_routes
from deskhand.vncbridge.server.access_log import AccessLog
from deskhand.vncbridge.server.json_logs import StandardError, logged
from deskhand.vncbridge.server.server import Address

from .administration import admin_routers
from .app import create_app
from .facts import service_facts
from .fleet import open_desktops, templates_tool
from .late_modules import mcp_callers, node_desktops, operations
from .launching import DesktopLaunching, plane_egress
from .live import live_router
from .machine_tools import machine_tools
from .models import models_router, open_models, start_preloading
from .oidc import oidc_routers
from .people import Access, access_of
from .planes import SharedPlane, join_planes, open_plane, use_database
from .playbooks import OpenPlaybooks
from .reports.system import cluster_json, report_routers
from .retention import maintenance_of, start_tidying
from .tasks import start_task


@dataclass(frozen=True)
class ControlPlane:
    """A running control plane, before it is served."""

    app: FastAPI
    chats: Chats
    fleet: Placement
    models: Models
    scripted: ScriptedModelServer
    credentials: Credentials
    token: str
    closing: asyncio.Event


@asynccontextmanager
async def control_plane(
    settings: Settings,
    address: Address,
    launching: DesktopLaunching,
    keys: StoreKeys,
    token_file: Path | None = None,
    user: ProcessUser | StaysRoot | None = None,
) -> AsyncIterator[ControlPlane]:
    """Open all parts, resume the chats of an earlier control plane, and close all at the end.

    ``address`` is where it will be served; ``user`` is what root has become, or why it has not.
    """
    data, base_url, closing = settings.data_dir, address.page_url, asyncio.Event()
    token = read_token(token_file or data / "token")
    async with AsyncExitStack() as stack:
        decoder, protections = _decoder(settings, user, stack)  # Forks: there is one thread yet.
        secret_store = _secret_store(settings, keys, stack)
        scripted = await _scripted(data, decoder, stack)
        store, reserve, shared = await _store(settings, address, stack)
        disk, files, maintenance = await _files(settings, store, shared, stack)
        fleet, reports = await open_desktops(settings, store, address, launching, stack)
        models, playbooks = _models(settings, scripted, files, decoder, stack)
        recovery = await _recovery(store, disk, fleet, decoder, stack)
        access = await access_of(settings, store, token, secret_store, fleet, stack)
        source = shared.driver.plane if shared else access.credentials.instance
        audit = _audit_log(store, own_instance(data), stack)
        playbooks.chats = chats = Chats(
            *(store, files, playbooks.models, DesktopAllocator(fleet)),
            *(machine_tools(files, settings), _chat_settings(settings, address, launching)),
            secret_store=secret_store,
            audit=audit,
            lost_recordings=recovery,
            pictures=StoredForeignPictures(files, decoder.pixels, time.time),
            parent_tools=(SavePlaybookTool(playbooks), templates_tool(data, store)),
            is_owner=access.people.is_owner,
            drive=shared.driver.drive if shared else None,
        )
        reports.on_refused, reports.on_status = chats.publish_refused, chats.publish_status
        _start_notifying(settings, store, chats, base_url, stack)
        stack.push_async_callback(chats.close, keep_recordings=settings.is_outlived)
        app = create_app(
            chats=chats,
            desktops=fleet,
            files=files,
            filmstrips=_filmstrips(chats, files, decoder, stack),
            about=lambda: service_facts(settings, models, chats.supervisor, launching, protections),
            closing=closing,
            disk=reserve.to_json,
            grants=access.people.granted,
            egress=plane_egress(settings, launching, address.url),
            owner_name=access.people.owner_name,
            plane=source if shared else "",
            cluster=partial(cluster_json, settings, store),
            ready=lambda: _is_writable(store),
            pages=[
                *_page_routers(settings, playbooks.router(chats), models_router(models, scripted)),
                live_router(source, chats, fleet, store, closing, stack, access.people),
                *admin_routers(settings, access, audit, base_url, store, fleet),
                *report_routers(settings, store, chats, fleet, secret_store),
            ],
        )
        _add_borders(app, settings, access, store, audit, chats, base_url)
        leads = await _resume(stack, store, chats, recovery, settings, shared, fleet)
        start_tidying(stack, chats, maintenance, recovery, audit, leads)
        yield ControlPlane(app, chats, fleet, models, scripted, access.credentials, token, closing)


def _decoder(
    settings: Settings, user: ProcessUser | StaysRoot | None, stack: AsyncExitStack
) -> tuple[Decoder, Sequence[PlaneProtection]]:
    decoder = stack.enter_context(Decoder(settings.decoder_seconds))
    return decoder, plane_protections(user, own_name(), decoder.refusal)


def _page_routers(settings: Settings, *others: APIRouter) -> tuple[APIRouter, ...]:
    provider = urlsplit(settings.oidc_issuer).hostname or ""
    nodes = settings.node_names if settings.cluster else ()
    return pages_router(settings.allowed_origins, provider, nodes), *others


def _models(
    settings: Settings,
    scripted: ScriptedModelServer,
    files: StoredFiles,
    decoder: Decoder,
    stack: AsyncExitStack,
) -> tuple[Models, OpenPlaybooks]:
    models = open_models(settings, os.environ, scripted, files, stack)

    def healing() -> tuple[str, Model] | None:
        # The example scripts, which play where nobody chose a model, cannot heal anything.
        chosen = models.has_key or settings.model is not None
        return models.resolve(None, role="child") if chosen else None

    return models, OpenPlaybooks(
        settings.data_dir, models, decoder.pixels, healing, files.check_room
    )


async def _store(
    settings: Settings, address: Address, stack: AsyncExitStack
) -> tuple[Store, StoreReserve, SharedPlane | None]:
    if settings.database:
        await use_database(settings, stack)
    reserve = StoreReserve(settings.data_dir)
    store = await Store.open(settings.database_place, reserve=reserve)
    stack.push_async_callback(store.close)
    start_task(stack, reserve.run(), "keep the reserve")
    if not settings.database:
        return store, reserve, None
    return store, reserve, await open_plane(settings, store, address.url, stack)


async def _scripted(data: Path, decoder: Decoder, stack: AsyncExitStack) -> ScriptedModelServer:
    log_file = data / "logs" / "scripted.jsonl"
    server = ScriptedModelServer(log_file=log_file, pixels=decoder.pixels)
    return await stack.enter_async_context(server)


def _chat_settings(
    settings: Settings, address: Address, launching: DesktopLaunching
) -> ChatSettings:
    # The places of nodes limit the desktops there, and their queue is in the database.
    desktops = sys.maxsize if settings.cluster else settings.most_desktops
    trust = settings.trust_mcp_servers
    return ChatSettings(
        address.page_url,
        desktops=desktops,
        egress=plane_egress(settings, launching, address.url),
        approval=settings.approval,
        question_seconds=settings.question_seconds,
        question_place_seconds=settings.question_place_seconds,
        trust_mcp_servers=trust,
        context=any(os.environ.get(name) for name in VARIABLES),
    )


def _start_notifying(
    settings: Settings, store: Store, chats: Chats, base_url: str, stack: AsyncExitStack
) -> None:
    if not settings.notify_url:
        return
    private = settings.notify_private
    webhook = Webhook(settings.notify_url, settings.notify_secret, private=private)
    sender = NotificationSender(store, webhook, base_url, time.time)
    chats.questions.notices = sender
    start_task(stack, sender.run(), "send notifications")


def _filmstrips(
    chats: Chats, files: StoredFiles, decoder: Decoder, stack: AsyncExitStack
) -> Filmstrips:
    filmstrips = Filmstrips(chats, files, VideoCutter(files, lambda: decoder))
    start_task(stack, filmstrips.run(), "make film strips")
    return filmstrips


def _is_writable(store: Store) -> bool:
    # A fault is known only after a write has failed, and an idle control plane writes nothing.
    store.check_soon()
    return store.health.fault is None


def _secret_store(settings: Settings, keys: StoreKeys, stack: AsyncExitStack) -> SecretStore:
    made = SecretStore(settings.data_dir, keys)
    shown = StandardError(settings.log_level, settings.log_format)
    stack.enter_context(logged(settings.data_dir / "logs", made.hide, shown))
    return made


def _access_policy(settings: Settings) -> AccessPolicy:
    public = remote_access(settings).public
    own = () if public is None else (public.host,)
    return AccessPolicy(
        frozenset((*settings.allowed_hosts, *own)), frozenset(settings.allowed_origins)
    )


def _add_borders(
    app: FastAPI,
    settings: Settings,
    access: Access,
    store: Store,
    audit: AuditLog,
    chats: Chats,
    base_url: str,
) -> None:
    """Add MCP, and the middleware around all routes."""
    callers = partial(mcp_callers, chats, ChatOwnership(store), base_url)
    add_mcp(app, McpEndpoint(callers, app.version))
    people, credentials, _ = access
    add_routes(app, *oidc_routers(settings, store, people, credentials))
    # The audit log needs the principal, which access control adds to a request before.
    app.add_middleware(AuditTrail, notes=audit)
    policy, kin, shown = _access_policy(settings), ChatOwnership(store), ErrorPages()
    install_auth(
        *(app, policy, credentials),
        kin=kin,
        operations=operations,
        error_pages=shown,
        grants=people.granted,
    )
    app.add_middleware(StoreFaultMiddleware)
    app.add_middleware(ErrorPageMiddleware, pages=shown)
    app.add_middleware(AccessLog)
    app.add_middleware(RemoteRequests, access=remote_access(settings))


def _audit_log(store: Store, writer: str, stack: AsyncExitStack) -> AuditLog:
    audit = AuditLog(store, writer, time.time)

    async def flush() -> None:
        with contextlib.suppress(StoreError):
            await audit.flush()

    stack.push_async_callback(flush)
    start_task(stack, audit.run(), "write the audit log")
    return audit


async def _resume(
    stack: AsyncExitStack,
    store: Store,
    chats: Chats,
    recovery: RecordingRecovery,
    settings: Settings,
    shared: SharedPlane | None,
    fleet: Placement,
) -> Callable[[], bool]:
    """Continue what an earlier control plane has begun; return whether this one leads."""
    start_preloading(stack)
    nodes = fleet if settings.cluster else None
    leads = join_planes(shared, settings.database, chats, nodes, stack).leads
    if settings.cluster:
        recovery.leads = leads
        node_desktops().start_leading(stack, chats, recovery, leads)
    await recovery.begin_all()
    await chats.resume(alone=not settings.cluster)
    start_task(stack, store.watch(), "watch the database")
    # The driver of shared chats finds those without a task by itself.
    if shared is None and (seconds := settings.supervisor_seconds) > 0:
        start_task(stack, _supervise(chats.supervisor, seconds), "supervisor")
    return leads


async def _supervise(supervisor: Supervisor, seconds: float) -> None:
    while True:
        await asyncio.sleep(seconds)
        # The database may be the reason for which a chat was stranded.
        with contextlib.suppress(StoreError):
            await supervisor.resume_stranded()


async def _recovery(
    store: Store, disk: FileStore, fleet: Placement, decoder: Decoder, stack: AsyncExitStack
) -> RecordingRecovery:
    recovery = RecordingRecovery(
        *(store, disk, disk.root / "recovering", fleet.remains, fleet.ended),
        lambda: decoder.finish,
    )
    stack.push_async_callback(recovery.close)
    fleet.on_end = recovery.begin
    return recovery


async def _files(
    settings: Settings, store: Store, shared: SharedPlane | None, stack: AsyncExitStack
) -> tuple[FileStore, StoredFiles, StorageMaintenance]:
    disk = FileStore(settings.data_dir / "files", moves=bool(settings.store))
    plane = shared.driver.plane if shared and settings.store else None
    upload_queue = await _upload_queue(settings, store, disk, plane, stack)
    files = StoredFiles(store, disk, time.time, upload_queue, settings.keep_attachments, plane)
    if shared:
        shared.driver.on_claimed = files.pack_soon
    return disk, files, maintenance_of(settings, store, disk, upload_queue)


async def _upload_queue(
    settings: Settings,
    store: Store,
    disk: FileStore,
    plane: str | None,
    stack: AsyncExitStack,
) -> UploadQueue | None:
    if not settings.store:
        return None

    async def uploaded(ids: Sequence[str]) -> frozenset[str]:
        return await store.write(lambda session: finish_waiting(session, ids))

    bucket, pictures = Bucket(settings.store, os.environ), PackedPictureRows(store, plane)
    upload_queue = UploadQueue(disk, bucket, uploaded=uploaded, pictures=pictures)
    stack.push_async_callback(upload_queue.finish)
    start_task(stack, upload_queue.run(), "move stored files")
    return upload_queue
