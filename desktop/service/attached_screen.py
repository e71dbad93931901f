"""A desktop service over a screen that exists already: a person's session, with no VNC of ours."""

import asyncio
import os
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from socket import socket
from typing import Any

from fastapi import FastAPI

from deskhand.desktop.accessibility.api import AccessibilityService
from deskhand.desktop.accessibility.api import router as accessibility_router
from deskhand.desktop.accessibility.focus_tracker import FocusTracker
from deskhand.desktop.actions.catalog import ActionRecord
from deskhand.desktop.actions.requests import ActionRequest, BatchRequest
from deskhand.desktop.applications.api import router as launch_router
from deskhand.desktop.applications.applications import InstalledApplications
from deskhand.desktop.applications.launcher import ProcessLauncher
from deskhand.desktop.attach.devices import MssScreen, PyAutoGuiInput
from deskhand.desktop.attach.keys import unreachable
from deskhand.desktop.attach.polled_screen import PolledScreen
from deskhand.desktop.clipboard.api import router as clipboard_router
from deskhand.desktop.clipboard.clipboard import X11Clipboard
from deskhand.desktop.computer.api import router as desktop_router
from deskhand.desktop.computer.computer import NO_PROGRESS, ActionProgress, Computer
from deskhand.desktop.computer.outcomes import BatchOutcome, Outcome
from deskhand.desktop.computer.typing_policy import TypingPolicy
from deskhand.desktop.errors import InvalidAction
from deskhand.desktop.events.api import router as events_router
from deskhand.desktop.events.bus import EventBus
from deskhand.desktop.files.api import router as files_router
from deskhand.desktop.files.roots import Roots
from deskhand.desktop.files.watch_api import MOST_WATCHES
from deskhand.desktop.geometry import model_size
from deskhand.desktop.isolation.account import Account
from deskhand.desktop.isolation.data_dir import DesktopDirectory
from deskhand.desktop.isolation.environment import built
from deskhand.desktop.keeper import KEEPER
from deskhand.desktop.lease.api import may_force
from deskhand.desktop.lease.api import router as lease_router
from deskhand.desktop.lease.handover import LeaseEffects, WindowEventPublisher, activity_summary
from deskhand.desktop.lease.privacy import PrivacyMode
from deskhand.desktop.lease.runtime import LeaseRuntime
from deskhand.desktop.metrics.api import router as metrics_router
from deskhand.desktop.metrics.exposition import Tally
from deskhand.desktop.processes.api import once
from deskhand.desktop.processes.api import router as processes_router
from deskhand.desktop.processes.cgroup_choice import Choice
from deskhand.desktop.processes.cgroups import opened as opened_cgroup
from deskhand.desktop.processes.registry import Registry
from deskhand.desktop.recordings.api import router as recording_router
from deskhand.desktop.recordings.frame_source import FrameSource
from deskhand.desktop.recordings.step_log import StepLog
from deskhand.desktop.recordings.steps import step_from_control_session
from deskhand.desktop.screenshots.renderer import ScreenshotRenderer
from deskhand.desktop.secrets.api import router as secrets_router
from deskhand.desktop.secrets.redaction import SecretRedactor
from deskhand.desktop.settings import DesktopSettings
from deskhand.desktop.tool_calls.caller import Caller
from deskhand.desktop.tool_calls.once import OncePerCall
from deskhand.desktop.windows.api import router as windows_router
from deskhand.desktop.windows.focus import Focus
from deskhand.desktop.windows.watcher import WindowWatch
from deskhand.desktop.windows.windows import X11Windows
from deskhand.recording.library.catalog import Catalog
from deskhand.recording.pipeline.recorder import Recorder
from deskhand.vncbridge.auth.api import tokens_router
from deskhand.vncbridge.auth.credentials import Credentials
from deskhand.vncbridge.auth.middleware import install_auth
from deskhand.vncbridge.auth.policy import AccessPolicy, Principal
from deskhand.vncbridge.http.sse import EventStreams
from deskhand.vncbridge.rfb.no_live_view import router as unseen_router
from deskhand.vncbridge.server.access_log import AccessLog
from deskhand.vncbridge.server.docs_page import router as docs_router
from deskhand.vncbridge.server.idle_timeout import IdleTimeout
from deskhand.vncbridge.server.json_logs import logged
from deskhand.vncbridge.server.server import Address, Serving
from deskhand.vncbridge.viewer.pages import router as pages_router

from .process_settings import process_settings
from .ready_message import ReadyMessage

_OF_THE_SESSION = ("DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS")
_UNSEEN = "It is attached to a screen that exists already, and takes screenshots only."


class AttachedComputer(Computer):
    """A computer that refuses what PyAutoGUI would leave out without a word."""

    async def act(
        self, request: ActionRequest, caller: Caller, journal: ActionProgress = NO_PROGRESS
    ) -> Outcome:
        """Perform one action; raises :class:`InvalidAction` if it cannot be done whole."""
        _check(request)
        return await super().act(request, caller, journal)

    async def batch(
        self, batch: BatchRequest, caller: Caller, journal: ActionProgress = NO_PROGRESS
    ) -> BatchOutcome:
        """Perform actions; raises :class:`InvalidAction` if one of them cannot be done whole."""
        for request in batch.actions:
            _check(request)
        return await super().batch(batch, caller, journal)


@dataclass(frozen=True)
class AttachedParts:
    """What is open while the screen is served."""

    screen: PolledScreen
    computer: Computer
    recorder: Recorder
    catalog: Catalog
    notebook: StepLog
    registry: Registry
    windows: X11Windows
    clipboard: X11Clipboard
    limited: Choice


class AttachedScreen:
    """Everything that is served of one screen that exists already."""

    def __init__(
        self,
        settings: DesktopSettings,
        folder: DesktopDirectory,
        account: Account,
        instance: str,
        token: str,
    ) -> None:
        self._settings = settings
        self._folder = folder
        self._account = account
        self._instance = instance
        self._token = token
        self._display = os.environ.get("DISPLAY", "")
        self._xauthority = Path(os.environ.get("XAUTHORITY", ""))
        self._started = time.monotonic()
        self._acted: float | None = None
        self._disguise = SecretRedactor()
        self._closing = asyncio.Event()
        self._events = EventBus(instance)
        self._streams = EventStreams(self._closing)
        self._watches = EventStreams(self._closing, MOST_WATCHES)
        self._leasing = LeaseRuntime()
        self._privacy = PrivacyMode()
        self._tally = Tally()
        self._once = OncePerCall(folder.path / "calls.jsonl")
        self._credentials = Credentials(instance, time.time)
        self._credentials.accept_token(token, Principal("owner"))
        self._environment = built(
            folder.path,
            account.name,
            instance,
            inherited=os.environ,
            inherit=(*_OF_THE_SESSION, *settings.inherit_env),
            given=settings.environment,
        )

    async def run(self, bound: socket, address: Address) -> None:
        """Serve until SIGTERM; the screen and what runs on it stay as they are."""
        async with AsyncExitStack() as stack:
            stack.enter_context(logged(self._folder.path / "logs", self._disguise))
            parts = await self._open(stack)
            idleness = IdleTimeout(AccessLog(self._application(parts)), time.monotonic)
            server = Serving(idleness, lambda: self._tell(address, parts), self._close)
            async with idleness.ending(self._settings.linger, server.ask_to_end):
                await server.run_until_asked(bound)

    def environment(self) -> dict[str, str]:
        """The whole environment that a command starts from."""
        return dict(self._environment)

    def workdir(self) -> Path | None:
        """Where commands run that name no directory."""
        return self._settings.workdir or self._folder.work

    async def _open(self, stack: AsyncExitStack) -> AttachedParts:
        kept = os.environ.get(KEEPER) == str(os.getppid())
        ours = {os.getpid(), os.getppid()} if kept else {os.getpid()}
        limited = stack.enter_context(opened_cgroup(self._settings.command_cgroup, ours))
        camera = stack.enter_context(MssScreen())
        screen = stack.enter_context(PolledScreen(camera, self._display))
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
        registry = await stack.enter_async_context(
            Registry(self, process_settings(self._settings, self._folder.path, limited))
        )
        place = (self._display, self._xauthority)
        focus = Focus(lambda: place)
        stack.callback(focus.close)
        computer = await stack.enter_async_context(
            AttachedComputer(
                screen,
                PyAutoGuiInput(screen.size, lambda: recorder.touch()),
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
            update_viewers=lambda: None,
            publish=self._events.publish,
            record=lambda turn: recorder.add_step(
                step_from_control_session(turn, activity_summary(turn))
            ),
            note_activity=lambda: recorder.note_activity("human"),
        )
        stack.enter_context(self._leasing.running(effects))
        windows = stack.enter_context(X11Windows(*place))
        clipboard = stack.enter_context(X11Clipboard(*place))
        stack.enter_context(
            WindowWatch(*place, WindowEventPublisher(self._leasing, self._events.publish))
        )
        return AttachedParts(
            screen, computer, recorder, catalog, notebook, registry, windows, clipboard, limited
        )

    def _application(self, parts: AttachedParts) -> FastAPI:
        app = FastAPI(title="Deskhand desktop", version=version("deskhand"), docs_url=None,
                      redoc_url=None, redirect_slashes=False)  # fmt: skip
        shown = AccessibilityService(self.environment, parts.screen.size, self._folder.path / "run")
        for routes in (
            desktop_router(
                *(parts.computer, lambda: self._status(parts), self._once, shown.pointed),
                closing=self._closing,
            ),
            accessibility_router(shown, self._leasing),
            events_router(self._events),
            windows_router(lambda: parts.windows, parts.screen.size, self._leasing),
            clipboard_router(lambda: parts.clipboard, self._leasing),
            launch_router(
                InstalledApplications(self.environment),
                ProcessLauncher(parts.registry),
                self._leasing,
            ),
            lease_router(self._leasing, lambda: 0, may_force),
            tokens_router(self._credentials),
            secrets_router(self._disguise),
            recording_router(
                parts.recorder, parts.catalog, self._closing.is_set, parts.notebook.written
            ),
            processes_router(parts.registry, self._streams),
            files_router(
                Path.home,
                once=once(parts.registry),
                roots=Roots.of(self._settings.file_roots),
                watches=self._watches,
            ),
            docs_router(),
            metrics_router(lambda: self._status(parts), self._tally),
            unseen_router(_UNSEEN),
            pages_router(),
        ):
            app.include_router(routes)

        @app.get("/healthz", include_in_schema=False)
        async def healthz() -> dict[str, str]:
            return {"status": "ok"}

        @app.get("/readyz", include_in_schema=False)
        async def readyz() -> dict[str, str]:
            return {"status": "ready"}

        gate = AccessPolicy(frozenset(self._settings.allowed_hosts), desktop=self._instance)
        install_auth(app, gate, self._credentials)
        return app

    def _status(self, parts: AttachedParts) -> dict[str, Any]:
        size, now = parts.screen.size, time.monotonic()
        return {
            "mode": "attach",
            "instance_id": self._instance,
            "display": self._display,
            "size": {"width": size.width, "height": size.height},
            "model_size": dict(zip(("width", "height"), model_size(size), strict=True)),
            "uptime_s": round(now - self._started, 3),
            "capture": "mss and comparison",
            "input": "PyAutoGUI",
            "watchers": 0,
            "lease": self._leasing.state(),
            "recording_ids": list(parts.recorder.active()),
            "last_activity_s": None if self._acted is None else round(now - self._acted, 3),
            "command_limits": parts.limited.to_json(
                self._settings.command_memory_bytes, self._settings.command_cpus
            ),
            "level": self._account.level,
            "user": self._account.name,
            "version": version("deskhand"),
        }

    def _note(self, record: ActionRecord, notebook: StepLog) -> None:
        self._acted = record.ended
        self._tally.add(record)
        notebook.write(record)

    def _tell(self, address: Address, parts: AttachedParts) -> None:
        if self._settings.as_json:
            ready = ReadyMessage(
                address.url,
                self._token,
                os.getppid(),
                self._display,
                parts.screen.size,
                self._account.level,
                version("deskhand"),
                mode="attach",
            )
            _print(ready.line())
        else:
            _print(f"The screen {self._display} is served at {address.url}")
            if self._settings.token_file is None:
                _print(f"Token for programs: {self._token}")

    def _close(self) -> None:
        self._closing.set()
        self._events.close()


def _check(request: ActionRequest) -> None:
    lacking = unreachable(request.action)
    if lacking:
        named = ", ".join(lacking)
        raise InvalidAction(
            f"An attached screen's keyboard and mouse lack {named}.",
            "PyAutoGUI types ASCII only.",
        )


def _print(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - whoever started us waits for this line
