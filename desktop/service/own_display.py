"""One desktop service: every part of one display, composed and served."""

import asyncio
import encodings.idna  # noqa: F401 - loaded at the first host name otherwise, see preload()
import os
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from socket import socket
from typing import Any

from fastapi import APIRouter, Depends, FastAPI, Response

from deskhand.desktop.accessibility.api import AccessibilityService
from deskhand.desktop.accessibility.api import router as accessibility_router
from deskhand.desktop.accessibility.focus_tracker import FocusTracker
from deskhand.desktop.actions.catalog import ActionRecord
from deskhand.desktop.applications.api import router as launch_router
from deskhand.desktop.applications.applications import InstalledApplications
from deskhand.desktop.applications.launcher import ProcessLauncher
from deskhand.desktop.clipboard.api import router as clipboard_router
from deskhand.desktop.computer.api import router as desktop_router
from deskhand.desktop.computer.computer import Computer
from deskhand.desktop.computer.typing_policy import TypingPolicy
from deskhand.desktop.display.api import WaitingUpstream, display_ready
from deskhand.desktop.display.child_processes import ChildProcessSpawner
from deskhand.desktop.display.instance import (
    DisplayInstance,
    DisplayInstanceFactory,
    InstanceOptions,
)
from deskhand.desktop.display.proxies import InputProxy, ScreenProxy
from deskhand.desktop.display.session import SessionFiles
from deskhand.desktop.display.supervisor import DisplaySupervisor
from deskhand.desktop.errors import InvalidSecret
from deskhand.desktop.events.api import router as events_router
from deskhand.desktop.events.bus import EventBus
from deskhand.desktop.events.downloads import Downloads
from deskhand.desktop.files.api import router as files_router
from deskhand.desktop.files.roots import Roots
from deskhand.desktop.files.watch_api import MOST_WATCHES
from deskhand.desktop.geometry import model_size
from deskhand.desktop.git.api import router as git_router
from deskhand.desktop.git.askpass import Askpass
from deskhand.desktop.git.attribution import Attribution
from deskhand.desktop.git.attribution_api import router as attribution_router
from deskhand.desktop.git.credentials import GitCredentials
from deskhand.desktop.git.errors import InvalidCredential
from deskhand.desktop.git.repositories import Git
from deskhand.desktop.git.touched_paths import PathStore
from deskhand.desktop.git.watcher import Watcher
from deskhand.desktop.isolation.account import Account
from deskhand.desktop.isolation.data_dir import DesktopDirectory
from deskhand.desktop.isolation.environment import built
from deskhand.desktop.lease.api import may_force
from deskhand.desktop.lease.api import router as lease_router
from deskhand.desktop.lease.handover import LeaseEffects, WindowEventPublisher, activity_summary
from deskhand.desktop.lease.lease import ControlSession
from deskhand.desktop.lease.privacy import PrivacyMode
from deskhand.desktop.lease.runtime import LeaseRuntime
from deskhand.desktop.metrics.api import router as metrics_router
from deskhand.desktop.metrics.exposition import Tally
from deskhand.desktop.processes.api import once, touched
from deskhand.desktop.processes.api import router as processes_router
from deskhand.desktop.processes.cgroup_choice import Choice
from deskhand.desktop.processes.cgroups import opened as opened_cgroup
from deskhand.desktop.processes.registry import Registry
from deskhand.desktop.recordings.api import router as recording_router
from deskhand.desktop.recordings.frame_source import FrameSource
from deskhand.desktop.recordings.step_log import StepLog
from deskhand.desktop.recordings.steps import step_from_control_session
from deskhand.desktop.screenshots.placeholder import load_font
from deskhand.desktop.screenshots.renderer import ScreenshotRenderer, load_codecs
from deskhand.desktop.secrets.api import router as secrets_router
from deskhand.desktop.secrets.redaction import SecretRedactor
from deskhand.desktop.settings import DesktopSettings
from deskhand.desktop.tool_calls.once import OncePerCall
from deskhand.desktop.windows.api import router as windows_router
from deskhand.desktop.windows.focus import Focus
from deskhand.recording.library.catalog import Catalog
from deskhand.recording.pipeline.recorder import Recorder
from deskhand.vncbridge.auth.api import tickets_router, tokens_router
from deskhand.vncbridge.auth.credentials import Credentials, new_token
from deskhand.vncbridge.auth.middleware import install_auth
from deskhand.vncbridge.auth.policy import AccessPolicy, Principal
from deskhand.vncbridge.http.sse import EventStreams
from deskhand.vncbridge.rfb.no_live_view import router as unseen_router
from deskhand.vncbridge.rfb.proxy import UnixUpstream
from deskhand.vncbridge.rfb.proxy import router as relay_router
from deskhand.vncbridge.rfb.viewers import Viewers
from deskhand.vncbridge.server.access_log import AccessLog
from deskhand.vncbridge.server.docs_page import router as docs_router
from deskhand.vncbridge.server.idle_timeout import IdleTimeout
from deskhand.vncbridge.server.json_logs import logged
from deskhand.vncbridge.server.server import Address, Serving
from deskhand.vncbridge.viewer.pages import router as pages_router

from .process_settings import process_settings
from .ready_message import ReadyMessage
from .warm_up import warm_up

TICKETS = "/api/v0/desktop/tickets"
VERSION = version("deskhand")
__all__ = ["DesktopService", "new_token", "preload"]


@dataclass(frozen=True)
class DisplayParts:
    """What is open while a desktop is served."""

    display: DisplaySupervisor[DisplayInstance]
    computer: Computer
    recorder: Recorder
    catalog: Catalog
    notebook: StepLog
    registry: Registry
    limited: Choice


@dataclass(frozen=True)
class Loaded:
    """What of the package's files is served, or copied for each session."""

    pages: APIRouter
    files: SessionFiles


def preload() -> Loaded:
    """Read them, and load what libraries load at first use: all may be unreadable later."""
    load_codecs()
    load_font()
    Serving(FastAPI())
    asyncio.run(warm_up())
    return Loaded(pages_router(), SessionFiles.read())


class DesktopService:
    """One display with everything that is served of it."""

    def __init__(
        self,
        settings: DesktopSettings,
        folder: DesktopDirectory,
        account: Account,
        instance: str,
        token: str,
        process: int,
        loaded: Loaded,
    ) -> None:
        self._settings = settings
        self._folder = folder
        self._account = account
        self._instance = instance
        self._token = token
        self._process = process
        self._started = time.monotonic()
        self._acted: float | None = None
        self._closing = asyncio.Event()
        self._display: DisplaySupervisor[DisplayInstance] | None = None
        self._events = EventBus(instance)
        self._paths = PathStore()
        self._for_git = GitCredentials()
        self._attribution = Attribution(self._paths, self._for_git, self._events.publish, time.time)
        self._askpass = Askpass(
            folder.path / "bin" / "deskhand-askpass",
            folder.path / "run" / "askpass",
            self._attribution.answer,
        )
        self._streams = EventStreams(self._closing)
        self._watches = EventStreams(self._closing, MOST_WATCHES)
        self._leasing = LeaseRuntime()
        self._privacy = PrivacyMode()
        self._tally = Tally()
        self._disguise = SecretRedactor()
        self._watchers = Viewers(control=self._leasing)
        self._once = OncePerCall(folder.path / "calls.jsonl")
        self._loaded = loaded
        self._credentials = Credentials(instance, time.time)
        self._credentials.accept_token(token, Principal("owner"))
        self._environment = built(
            folder.path,
            account.name,
            instance,
            inherited=os.environ,
            inherit=settings.inherit_env,
            given=settings.environment,
        )

    async def run(self, bound: socket, address: Address) -> None:
        """Serve until SIGTERM; everything that was opened is closed when this returns."""
        async with AsyncExitStack() as stack:
            stack.enter_context(logged(self._folder.path / "logs", self._disguise))
            parts = await self._open(stack)
            app = self._application(parts)
            idleness = IdleTimeout(AccessLog(app), time.monotonic)
            server = Serving(idleness, lambda: self._tell(address, parts), self._close)
            async with idleness.ending(self._settings.linger, server.ask_to_end):
                await server.run_until_asked(bound)

    async def _open(self, stack: AsyncExitStack) -> DisplayParts:
        settings, path = self._settings, self._folder.path
        ours = {os.getpid(), self._process}
        limited = stack.enter_context(opened_cgroup(settings.command_cgroup, ours))
        spawner = stack.enter_context(ChildProcessSpawner())
        setting = InstanceOptions(
            *(path, settings.size, self._environment, spawner, self._loaded.files),
            lambda: recorder.touch(),
            WindowEventPublisher(self._leasing, self._events.publish),
            *(settings.layout, settings.xserver, settings.glx),
        )
        display = stack.enter_context(
            DisplaySupervisor(DisplayInstanceFactory(setting), self._events.publish)
        )
        screen, hands = ScreenProxy(display, settings.size), InputProxy(display)
        self._display = display
        stack.enter_context(Downloads(path / "home" / "Downloads", self._events.publish))
        focus = Focus(lambda: (display.newest.xserver.display, display.newest.xserver.xauthority))
        stack.callback(focus.close)
        catalog = Catalog(self._folder.recordings)
        await asyncio.to_thread(catalog.recover)
        recorder = stack.enter_context(
            Recorder(
                FrameSource(screen, self._privacy), self._folder.recordings, mask=self._disguise
            )
        )
        fields = stack.enter_context(FocusTracker(self.environment))
        notebook = await stack.enter_async_context(
            StepLog(recorder.add_step, fields, self._disguise)
        )
        stack.enter_context(self._askpass)
        registry = await stack.enter_async_context(
            Registry(
                self,
                process_settings(settings, path, limited),
                touched=self._paths.note,
            )
        )
        computer = await stack.enter_async_context(
            Computer(
                screen,
                hands,
                ScreenshotRenderer(),
                record=lambda record: self._note(record, notebook),
                instance_id=self._instance,
                access=self._leasing,
                windows=focus,
                typing_policy=TypingPolicy(fields),
            )
        )
        effects = LeaseEffects(
            privacy=self._privacy,
            release_input=computer.release_soon,
            update_viewers=self._watchers.settle,
            publish=self._events.publish,
            record=lambda turn: _record(turn, recorder),
            note_activity=lambda: recorder.note_activity("human"),
        )
        stack.enter_context(self._leasing.running(effects))
        return DisplayParts(display, computer, recorder, catalog, notebook, registry, limited)

    def environment(self) -> dict[str, str]:
        """The whole environment that a command starts from."""
        if self._display is None:
            return dict(self._environment)
        return self._display.newest.session.environment | self._askpass.environment

    def workdir(self) -> Path | None:
        """Where commands run that name no directory."""
        return self._settings.workdir or self._folder.work

    def _application(self, parts: DisplayParts) -> FastAPI:
        app = FastAPI(title="Deskhand desktop", version=VERSION, docs_url=None,
                      redoc_url=None, redirect_slashes=False)  # fmt: skip
        shown = AccessibilityService(
            self.environment, self._settings.size, self._folder.path / "run"
        )
        acting = desktop_router(
            *(parts.computer, lambda: self._status(parts), self._once, shown.pointed),
            closing=self._closing,
        )
        app.include_router(acting, dependencies=[Depends(display_ready(parts.display))])
        for routes in (
            events_router(self._events),
            windows_router(
                lambda: parts.display.current().windows, self._settings.size, self._leasing
            ),
            launch_router(
                InstalledApplications(self.environment),
                ProcessLauncher(parts.registry),
                self._leasing,
            ),
            clipboard_router(lambda: parts.display.current().clipboard, self._leasing),
            accessibility_router(shown, self._leasing),
            tickets_router(self._credentials, TICKETS, lambda _: self._instance),
            tokens_router(self._credentials),
            lease_router(self._leasing, lambda: self._watchers.count, may_force),
            secrets_router(self._disguise),
            recording_router(
                parts.recorder, parts.catalog, self._closing.is_set, parts.notebook.written
            ),
            self._watched(parts),
            processes_router(parts.registry, self._streams),
            files_router(
                lambda: self._folder.path / "home",
                once=once(parts.registry),
                roots=Roots.of(self._settings.file_roots),
                touched=touched(self._paths.note),
                watches=self._watches,
            ),
            git_router(Watcher(self._paths, Git(self._environment))),
            attribution_router(self._for_git, self._attribution, self._hide),
            docs_router(),
            metrics_router(lambda: self._status(parts), self._tally),
            self._loaded.pages,
        ):
            app.include_router(routes)

        @app.get("/healthz", include_in_schema=False)
        async def healthz() -> dict[str, str]:
            return {"status": "ok"}

        @app.get("/readyz", include_in_schema=False)
        async def readyz(response: Response) -> dict[str, str]:
            state = parts.display.status()["state"]
            response.status_code = 200 if state == "running" else 503
            return {"status": "ready" if state == "running" else state}

        gate = AccessPolicy(frozenset(self._settings.allowed_hosts), desktop=self._instance)
        install_auth(app, gate, self._credentials)
        return app

    def _watched(self, parts: DisplayParts) -> APIRouter:
        xserver = parts.display.newest.xserver
        if not xserver.has_live_view:
            return unseen_router("Its X server is Xvfb, which shows it to nobody.")
        upstream = WaitingUpstream(UnixUpstream(xserver.rfb_socket), parts.display)
        return relay_router(upstream, self._closing.is_set, self._watchers, desktop=self._instance)

    def _status(self, parts: DisplayParts) -> dict[str, Any]:
        size, life = self._settings.size, parts.display.newest
        now = time.monotonic()
        return {
            "instance_id": self._instance,
            "display": life.xserver.display,
            "size": {"width": size.width, "height": size.height},
            "model_size": dict(zip(("width", "height"), model_size(size), strict=True)),
            "uptime_s": round(now - self._started, 3),
            "xserver": {
                "running": life.xserver.pid is not None,
                "pid": life.xserver.pid,
                "live_view": life.xserver.has_live_view,
                **parts.display.status(),
            },
            "session": life.session.status(),
            "capture": "mit-shm" if life.framebuffer.shared_memory else "core",
            "watchers": self._watchers.count,
            "lease": self._leasing.state(),
            "recording_ids": list(parts.recorder.active()),
            "last_activity_s": None if self._acted is None else round(now - self._acted, 3),
            "command_limits": parts.limited.to_json(
                self._settings.command_memory_bytes, self._settings.command_cpus
            ),
            "level": self._account.level,
            "user": self._account.name,
            "version": VERSION,
        }

    def _hide(self, password: str) -> None:
        try:
            self._disguise.add([password])
        except InvalidSecret as error:
            raise InvalidCredential(str(error)) from error

    def _note(self, record: ActionRecord, notebook: StepLog) -> None:
        self._acted = record.ended
        self._tally.add(record)
        notebook.write(record)

    def _tell(self, address: Address, parts: DisplayParts) -> None:
        name = parts.display.newest.xserver.display
        if self._settings.as_json:
            ready = ReadyMessage(
                address.url,
                self._token,
                self._process,
                name,
                self._settings.size,
                self._account.level,
                VERSION,
            )
            _print(ready.line())
        elif address.path is not None:
            _print(f"Desktop {name} is served at {address.url}")
        else:
            code = self._credentials.new_code()
            _print(f"Desktop {name}: {address.url}/login#code={code}")
            if self._settings.token_file is None:
                _print(f"Token for programs: {self._token}")

    def _close(self) -> None:
        self._closing.set()
        self._events.close()


def _record(turn: ControlSession, recorder: Recorder) -> None:
    # What is done in the open is a step of its own, as it happens.
    if turn.private:
        recorder.add_step(step_from_control_session(turn, activity_summary(turn)))


def _print(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - whoever started us waits for this line
