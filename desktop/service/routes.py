"""The application of a desktop service: the one list of its routers, and access control."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Depends, FastAPI, Request, Response

from deskhand.desktop.accessibility.api import AccessibilityService
from deskhand.desktop.accessibility.api import router as accessibility_router
from deskhand.desktop.accessibility.focus_api import router as focus_router
from deskhand.desktop.agent_helper.files import HelperFiles
from deskhand.desktop.agent_helper.paths import HelperPaths
from deskhand.desktop.agent_helper.pictures import HelperPictures
from deskhand.desktop.agent_helper.repositories import HelperRepositories
from deskhand.desktop.applications.api import router as applications_router
from deskhand.desktop.applications.applications import InstalledApplications
from deskhand.desktop.applications.launcher import ProcessLauncher
from deskhand.desktop.clipboard.api import ClipboardService
from deskhand.desktop.clipboard.api import router as clipboard_router
from deskhand.desktop.computer.api import router as computer_router
from deskhand.desktop.context.api import router as context_router
from deskhand.desktop.context.context import ContextReader
from deskhand.desktop.events.api import router as events_router
from deskhand.desktop.files.api import Touched
from deskhand.desktop.files.api import router as files_router
from deskhand.desktop.files.tree.api import router as tree_router
from deskhand.desktop.geometry import Size
from deskhand.desktop.git.api import router as git_router
from deskhand.desktop.git.attribution_api import router as attribution_router
from deskhand.desktop.git.watcher import Watcher
from deskhand.desktop.isolation.environment import of_browser
from deskhand.desktop.lease.api import may_force, pause_router
from deskhand.desktop.lease.api import router as lease_router
from deskhand.desktop.mcp.api import McpEndpoint, add_mcp
from deskhand.desktop.mcp_client.api import router as mcp_client_router
from deskhand.desktop.metrics.api import router as metrics_router
from deskhand.desktop.own_api.own_api import OwnApi
from deskhand.desktop.processes.api import once, touched
from deskhand.desktop.processes.api import router as processes_router
from deskhand.desktop.recordings.api import router as recordings_router
from deskhand.desktop.secrets.api import router as secrets_router
from deskhand.desktop.targets.api import router as targets_router
from deskhand.desktop.targets.api import target_reader
from deskhand.desktop.tool_calls.api import GenerationFence
from deskhand.desktop.tool_calls.generations import Generations
from deskhand.desktop.uploads.api import router as uploads_router
from deskhand.desktop.waiting.api import router as waiting_router
from deskhand.desktop.waiting.screen_wait import ScreenWait, Sources
from deskhand.desktop.wallpaper.api import router as wallpaper_router
from deskhand.desktop.wallpaper.wallpaper import Background, Wallpaper
from deskhand.desktop.windows.api import WindowService
from deskhand.desktop.windows.api import router as windows_router
from deskhand.vncbridge.auth.api import tickets_router, tokens_router
from deskhand.vncbridge.auth.middleware import install_auth
from deskhand.vncbridge.auth.policy import AccessPolicy
from deskhand.vncbridge.http.add_routes import add_routes
from deskhand.vncbridge.http.lazy_routes import LazyRoute, LazyRouter
from deskhand.vncbridge.rfb.no_live_view import router as no_live_view_router
from deskhand.vncbridge.rfb.proxy import Upstream
from deskhand.vncbridge.rfb.proxy import router as live_view_router
from deskhand.vncbridge.rfb.viewers import Viewers
from deskhand.vncbridge.server.docs_page import router as docs_router

from .git_parts import GitParts
from .late_modules import Dialect, mcp_callers, operations
from .page_parts import pages_router
from .parts import VERSION, CommonParts, OpenParts, RecordingParts

TICKETS = "/api/v0/desktop/tickets"
_ON_DISPLAY = {
    ("POST", "/api/v0/desktop/launch"),
    ("POST", "/api/v0/desktop/open"),
    ("GET", "/api/v0/desktop/accessibility"),
    ("GET", "/api/v0/desktop/accessibility/text"),
    ("POST", "/api/v0/desktop/recording/start"),
    ("POST", "/api/v0/desktop/wait-for"),
    ("POST", "/api/v0/desktop/find-patch"),
    ("POST", "/api/v0/desktop/browser"),
}
"""Requests that need the display, of routers that also serve others."""


@dataclass(frozen=True)
class LiveView:
    """The viewers of a screen, and the RFB server that they watch."""

    viewers: Viewers
    upstream: Upstream | None
    """None where the X server is no RFB server."""


@dataclass(frozen=True)
class ScreenAccess:
    """The part of one screen that the routes use. The functions may wait for a display."""

    size: Size
    environment: Callable[[], dict[str, str]]
    status: Callable[[], dict[str, Any]]
    readiness: Callable[[], str]
    """Returns ``running`` when the screen can be used, and else what it does instead."""
    windows: Callable[[], WindowService]
    clipboard: Callable[[], ClipboardService]
    home: Callable[[], Path]
    pages: APIRouter
    no_live_view: str
    """The sentence that refuses viewers where there is no upstream."""
    live_view: LiveView | None = None
    wait_ready: Callable[[Request], Awaitable[None]] | None = None
    """Waits for the display before a request that needs it."""
    display: APIRouter | None = None
    """The routes that start the display."""
    background: Background | None = None
    """What is behind all windows; None if it is not this desktop's."""


def application(
    common: CommonParts,
    parts: OpenParts,
    screen: ScreenAccess,
    dialects: Iterable[Dialect],
    git: GitParts | None = None,
) -> FastAPI:
    """Return the application that serves one screen; without ``git`` it has no git routes."""
    # FastAPI's own page of the documentation loads scripts from a CDN; `docs_router` replaces it.
    app = FastAPI(title="Deskhand desktop", version=VERSION, docs_url=None,
                  redoc_url=None, redirect_slashes=False)  # fmt: skip
    context, recording = common.context, parts.recording
    widgets = AccessibilityService(
        *(screen.environment, screen.size, context.directory.path / "share", common.buses)
    )
    computer = computer_router(
        *(parts.computer, screen.status, common.once, widgets.pointed), closing=common.closing
    )
    applications, launcher = launching(common, parts, screen)
    # Requests to the computer wait while the display starts; those to files and processes do not
    # need it. The bus of the widgets belongs to the session on the display.
    add_routes(
        app,
        _after(screen.wait_ready, computer, every=True),
        events_router(common.events),
        windows_router(screen.windows, screen.size, common.lease),
        _after(screen.wait_ready, applications_router(applications, launcher, common.lease)),
        clipboard_router(screen.clipboard, common.lease),
        wallpaper_router(_wallpaper(common, screen), common.lease),
        _after(screen.wait_ready, accessibility_router(widgets, common.lease)),
        _after(screen.wait_ready, _targets(common, parts, screen, widgets)),
        _after(screen.wait_ready, _waiting(common, parts, screen, widgets)),
        focus_router(screen.windows, recording.focus_tracker.focused_field, common.lease),
        *(() if screen.display is None else (screen.display,)),
        *_live_view(common, screen),
        *_control(common, screen),
        *(tokens_router(common.credentials), secrets_router(common.redactor)),
        _after(
            screen.wait_ready,
            recordings_router(
                *(recording.recorder, recording.catalog, common.closing.is_set),
                recording.step_log.written,
            ),
        ),
        processes_router(*(parts.registry, common.streams, context.instance), common.check_start),
        *_files(common, parts, screen, git),
        mcp_client_router(
            parts.tool_servers, once(parts.registry, context.instance), common.check_start
        ),
        *_git(common, git),
        *(docs_router(), metrics_router(screen.status, common.tally), screen.pages),
        _health(screen.readiness),
    )
    own_api = _add_protocols(app, common, recording, dialects)
    add_routes(app, _after(screen.wait_ready, pages_router(common, parts, own_api)))
    policy = AccessPolicy(
        frozenset(context.settings.allowed_hosts),
        frozenset(context.settings.allowed_origins),
        desktop=context.instance,
    )
    earlier = common.once.generations(), parts.registry.once.generations()
    # Inside of access control, so that only holders of a credential can raise a generation.
    app.add_middleware(GenerationFence, generations=Generations(*earlier))
    install_auth(app, policy, common.credentials, operations=operations)
    return app


def _add_protocols(
    app: FastAPI, common: CommonParts, recording: RecordingParts, dialects: Iterable[Dialect]
) -> OwnApi:
    """Add MCP and the dialects, which call the routes of this application in this process.

    Return what calls them.
    """
    own_api = OwnApi(app, recording.recorder.add_reported_step)
    add_routes(app, *(one.router(own_api, common, recording.step_log) for one in dialects))
    add_mcp(app, McpEndpoint(partial(mcp_callers, own_api), VERSION))
    return own_api


def launching(
    common: CommonParts, parts: OpenParts, screen: ScreenAccess
) -> tuple[InstalledApplications, ProcessLauncher]:
    """Return what finds and what starts applications."""
    applications = InstalledApplications(screen.environment, HelperPaths(common.helper).kind_of)
    context, programs = common.context, common.programs
    launcher = ProcessLauncher(
        *(parts.registry, programs, lambda: screen.environment().get("PATH", "")),
        # Without the policy the browser warns of a switch, on each page.
        pipes=common.pipes.handed_over if context.browser_policy else None,
        browser_environment=(
            of_browser(context.directory.path, context.account.browser.name)
            if context.account.browser_separated
            else None
        ),
    )
    return applications, launcher


def _after(
    wait_ready: Callable[[Request], Awaitable[None]] | None,
    router: APIRouter,
    *,
    every: bool = False,
) -> APIRouter:
    """Return a router whose requests of `_ON_DISPLAY`, or ``every`` one, first wait for it."""
    if wait_ready is None:
        return router
    waiting = APIRouter()
    for route in router.routes:
        if isinstance(route, LazyRoute) and (every or _is_on_display(route)):
            waiting.routes.append(route.after([Depends(wait_ready)]))
        else:
            waiting.routes.append(route)
    return waiting


def _is_on_display(route: LazyRoute) -> bool:
    return any((method, route.path) in _ON_DISPLAY for method in route.methods or ())


def _control(common: CommonParts, screen: ScreenAccess) -> tuple[APIRouter, APIRouter]:
    return (
        lease_router(common.lease, lambda: _viewer_count(screen.live_view), may_force),
        pause_router(common.lease, may_force),
    )


def _waiting(
    common: CommonParts, parts: OpenParts, screen: ScreenAccess, widgets: AccessibilityService
) -> APIRouter:
    sources = Sources(
        widgets.names,
        lambda: tuple(window.title for window in screen.windows().all()),
        lambda: common.pipes.current,
        common.events,
    )
    wait = ScreenWait(parts.computer.observer, sources, common.lease.check_view)
    return waiting_router(parts.computer, wait, parts.registry, common.closing)


def _wallpaper(common: CommonParts, screen: ScreenAccess) -> Wallpaper | None:
    if screen.background is None or not common.context.settings.speaks_osworld:
        return None
    return Wallpaper(HelperPictures(common.helper), screen.background, screen.size)


def _targets(
    common: CommonParts, parts: OpenParts, screen: ScreenAccess, widgets: AccessibilityService
) -> APIRouter:
    computer, lease = parts.computer, common.lease
    computer.targets = target_reader(
        computer.observer, widgets, lambda: screen.windows().all(), lease
    )
    return targets_router(computer.observer, lease)


def _viewer_count(live_view: LiveView | None) -> int:
    """Return the number of people who watch the screen."""
    return 0 if live_view is None else live_view.viewers.count


def _live_view(common: CommonParts, screen: ScreenAccess) -> tuple[APIRouter, ...]:
    if screen.live_view is None:
        return (no_live_view_router(screen.no_live_view),)
    # Tickets open the live view and nothing else.
    instance, upstream = common.context.instance, screen.live_view.upstream

    async def own(_: Request) -> str:
        return instance

    tickets = tickets_router(common.credentials, TICKETS, own)
    if upstream is None:
        return (tickets, no_live_view_router(screen.no_live_view))
    viewers = screen.live_view.viewers
    return (tickets, live_view_router(upstream, common.closing.is_set, viewers, desktop=instance))


def _files(
    common: CommonParts, parts: OpenParts, screen: ScreenAccess, git: GitParts | None
) -> tuple[APIRouter, ...]:
    files = HelperFiles(common.helper, common.disk_refusal)
    executor = once(parts.registry, common.context.instance)
    # Without git nothing reads which paths a chat touched.
    note: Touched = (lambda headers, paths: None) if git is None else touched(git.paths.note)
    changing = asyncio.Lock()
    watches = common.watches
    return (
        context_router(
            ContextReader(
                *(files, common.workdir, screen.home, os.environ), lasting=common.lasting_dirs
            )
        ),
        files_router(screen.home, files, executor, note, watches, changing),
        tree_router(screen.home, files, executor, note, changing),
        uploads_router(screen.home, files, common.lease, changing),
    )


def _git(common: CommonParts, git: GitParts | None) -> tuple[APIRouter, ...]:
    if git is None:
        return ()
    return (
        git_router(Watcher(git.paths, HelperRepositories(common.helper))),
        attribution_router(git.credentials, git.attribution, git.redact),
    )


def _health(readiness: Callable[[], str]) -> APIRouter:
    routes = LazyRouter(include_in_schema=False)

    @routes.get("/healthz")
    # A display that restarts fails readiness only: a failed liveness probe would have the whole
    # service killed, although the display recovers by itself.
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @routes.get("/readyz")
    async def readyz(response: Response) -> dict[str, str]:
        state = readiness()
        response.status_code = 200 if state == "running" else 503
        return {"status": "ready" if state == "running" else state}

    return routes
