"""Parts that serve any screen: credentials, lease, recorder, process registry, step log.

`CommonParts` are created before there is a screen, and start nothing. Its ``open_*`` methods need
the open screen. Each opens one part on the caller's exit stack, so that the composition root alone
decides the order of opening, and parts close in the reverse order. Nothing here is global: one
process may compose several services, and a forked process composes its own.
"""

import asyncio
import os
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, AsyncExitStack, nullcontext
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path
from socket import socket

from starlette.types import ASGIApp

from deskhand.desktop.accessibility.focus_tracker import FocusTracker
from deskhand.desktop.actions.catalog import ActionRecord
from deskhand.desktop.agent_helper.agent_helper import AgentHelper
from deskhand.desktop.agent_helper.buses import HelperBuses
from deskhand.desktop.agent_helper.launch import StartHelper
from deskhand.desktop.agent_helper.outputs import HelperOutputs
from deskhand.desktop.browser.debugging_pipe import BrowserPipes
from deskhand.desktop.browser.refusal_pages import RefusalPages
from deskhand.desktop.computer.computer import Computer, InputDevice
from deskhand.desktop.computer.observer import FocusSource, Screen
from deskhand.desktop.computer.typing_policy import TypingPolicy
from deskhand.desktop.events.bus import EventBus
from deskhand.desktop.files.watch_api import MOST_WATCHES
from deskhand.desktop.freeze.freezer import Freezer, NoFreezer, ProcessControl
from deskhand.desktop.freeze.process_table import UserProcesses
from deskhand.desktop.freeze.selection import Origins
from deskhand.desktop.geometry import Size
from deskhand.desktop.isolation.account import Account
from deskhand.desktop.isolation.data_dir import DesktopDirectory
from deskhand.desktop.isolation.environment import built
from deskhand.desktop.isolation.protections import Protections
from deskhand.desktop.launch.init_launcher import InitLauncher
from deskhand.desktop.launch.limits import DesktopLimits
from deskhand.desktop.lease.handover import LeaseEffects, Selections
from deskhand.desktop.lease.lease import ControlSession
from deskhand.desktop.lease.privacy import PrivacyMode
from deskhand.desktop.lease.runtime import LeaseRuntime
from deskhand.desktop.mcp_client.tool_servers import ToolServers
from deskhand.desktop.metrics.exposition import Tally
from deskhand.desktop.network.network import DesktopNetwork
from deskhand.desktop.network.refused_page import EXPLAINED, refusal
from deskhand.desktop.network.reporter import RefusalReporter
from deskhand.desktop.pages.entry.page_entry import BrowserPageEntry
from deskhand.desktop.processes.cgroup_choice import Choice
from deskhand.desktop.processes.cgroups import opened as opened_cgroup
from deskhand.desktop.processes.registry import CommandEnvironment, Registry
from deskhand.desktop.recordings.frame_source import FrameSource, SubscribableScreen
from deskhand.desktop.recordings.step_log import StepLog
from deskhand.desktop.screenshots.renderer import ScreenshotRenderer
from deskhand.desktop.secrets.redaction import SecretRedactor
from deskhand.desktop.settings import DesktopSettings
from deskhand.desktop.tool_calls.caller import Touched
from deskhand.desktop.tool_calls.once import OncePerCall
from deskhand.recording.disk.meter import DiskMeter
from deskhand.recording.library.catalog import Catalog
from deskhand.recording.pipeline.recorder import Recorder
from deskhand.vncbridge.auth.credentials import Credentials
from deskhand.vncbridge.auth.policy import Principal
from deskhand.vncbridge.http.sse import EventStreams
from deskhand.vncbridge.server.access_log import AccessLog
from deskhand.vncbridge.server.idle_timeout import IdleTimeout
from deskhand.vncbridge.server.json_logs import logged
from deskhand.vncbridge.server.server import Serving
from deskhand.vncbridge.server.standard_input import ending_with_input

from .git_parts import GitParts
from .process_settings import process_settings
from .ready_message import ReadyMessage
from .status import StatusFacts

VERSION = version("deskhand")
PROGRAMS = "libexec"  # Scripts that start browser and terminal.


@dataclass(frozen=True)
class ServiceContext:
    """The settings and the identity with which one desktop service is started."""

    settings: DesktopSettings
    directory: DesktopDirectory
    account: Account
    instance: str
    token: str
    pid: int
    """Process to signal for the end of the service: its keeper, or itself without one."""
    start_helper: StartHelper
    """Starts an agent helper, also again when one has ended."""
    protections: Protections
    limits: DesktopLimits | None = None
    """Limits of the whole desktop; None if nothing enforces any."""
    display: int | None = None
    """Number of the X display that is reserved for this desktop; None for any."""
    host_pid: Callable[[int], int] = int
    """Returns the pid on the host for a pid that this process sees."""
    network: DesktopNetwork = field(default_factory=DesktopNetwork)
    agent_socket: socket | None = None
    """Listening socket for commands; None if none of them needs it."""
    browser_policy: bool = False
    """True if the browser has the managed policy of desktops."""
    fork_server: int | None = None
    """Process that forks agent helpers; None if they are children of the service."""
    launcher: InitLauncher | None = None
    """Starts programs as the agent's user; None if they are children of the service."""
    application_cgroup: Path | None = None
    """Parent of the control groups of programs that the service launches; None for none."""


@dataclass(frozen=True)
class RecordingParts:
    """The recorder of a screen, and what belongs to it."""

    recorder: Recorder
    catalog: Catalog
    focus_tracker: FocusTracker
    step_log: StepLog


@dataclass(frozen=True)
class OpenParts:
    """The parts that are open while any screen is served."""

    computer: Computer
    recording: RecordingParts
    registry: Registry
    cgroup: Choice
    tool_servers: ToolServers


def command_environment(
    settings: DesktopSettings,
    folder: Path,
    account: Account,
    instance: str,
    inherit: Iterable[str] = (),
) -> dict[str, str]:
    """Return the environment that the programs of one desktop start with."""
    return built(
        folder,
        account.agent.name,
        instance,
        inherited=os.environ,
        inherit=(*inherit, *settings.inherit_env),
        given=settings.environment,
    )


class CommonParts:
    """The parts of any screen's service; see the module for the order of use."""

    def __init__(self, context: ServiceContext, inherit: Iterable[str] = ()) -> None:
        settings, path = context.settings, context.directory.path
        self.context = context
        self.events = EventBus(context.instance)
        # Only a numbered user is this desktop's alone: of any other user, processes are stopped
        # that have nothing to do with this desktop.
        self.freezer = (
            Freezer(self._processes(), lambda: self.origins()) if context.account.numbered else None
        )
        forks = context.fork_server
        self.fork_servers = frozenset[int]() if forks is None else frozenset({forks})
        self.origins: Callable[[], Origins] = lambda: Origins(context.account.agent.uid)
        """Origins of the processes; the screen that is served replaces it."""
        self.lease = LeaseRuntime(freezer=self.freezer)
        self.privacy = PrivacyMode()
        self.redactor = SecretRedactor()
        self.tally = Tally()
        self.once = OncePerCall(context.directory.action_journal)
        self.closing = asyncio.Event()
        self.streams = EventStreams(self.closing)
        # File watches are counted apart, so that they cannot use up the streams of commands'
        # output.
        self.watches = EventStreams(self.closing, MOST_WATCHES)
        self.credentials = Credentials(context.instance, time.time)
        self.credentials.accept_token(context.token, Principal("owner"))
        built_environment = command_environment(
            *(settings, path, context.account, context.instance, inherit)
        )
        self.environment = {**context.network.environment, **built_environment}
        self.pipes = BrowserPipes(self._responders)
        self.helper = AgentHelper(context.start_helper)
        self.disk = DiskMeter(path, self.workdir)
        self.renderer = ScreenshotRenderer()
        self.buses = None if context.account.browser_separated else HelperBuses(self.helper)
        """Connects to the message buses; None if they work as the service's user, as this does."""
        self._started = time.monotonic()
        self._last_action: float | None = None

    @property
    def programs(self) -> Path | None:
        """Folder of the programs that the service alone launches; None if commands do so too."""
        folder = self.context.directory.path
        return None if self.context.launcher is None else folder / PROGRAMS

    @property
    def workdir(self) -> Path:
        """The directory in which commands run that name none."""
        return self.context.settings.workdir or self.context.directory.work

    @property
    def lasting_dirs(self) -> tuple[Path, ...] | None:
        """Directories of the agent whose files outlive the desktop; None if all may."""
        settings = self.context.settings
        # Only a numbered user has no files beside those of its desktop.
        if not self.context.account.numbered or settings.attach is not None:
            return None
        return () if settings.workdir is None else (settings.workdir,)

    def _responders(self) -> tuple[RefusalPages, ...]:
        egress = self.context.network.egress
        return (RefusalPages(partial(refusal, egress)),) if egress.mode in EXPLAINED else ()

    def _processes(self) -> ProcessControl:
        launcher = self.context.launcher
        return (
            UserProcesses(self.context.account.uids) if launcher is None else launcher.processes()
        )

    def logged(self) -> AbstractContextManager[None]:
        """Return a context in which the log is written to the desktop's directory."""
        return logged(self.context.directory.path / "logs", self.redactor)

    def open_cgroup(self, stack: AsyncExitStack) -> Choice:
        """Open the cgroup in which commands are limited."""
        # The group is divided only if these are the only processes in it.
        own = {os.getpid(), self.context.pid, *self.fork_servers}
        return stack.enter_context(opened_cgroup(self.context.settings.command_cgroup, own))

    async def open_recording(
        self,
        stack: AsyncExitStack,
        screen: SubscribableScreen,
        environment: Callable[[], dict[str, str]],
    ) -> RecordingParts:
        """Open the recorder of ``screen``; ``environment`` names the bus of its widgets."""
        folder = self.context.directory.recordings
        # `recover` completes the files of a killed service; no recorder may use them meanwhile.
        catalog = Catalog(folder)
        await asyncio.to_thread(catalog.recover)
        source = FrameSource(screen, self.privacy)
        recorder = stack.enter_context(Recorder(source, folder, mask=self.redactor))
        # Where programs have no user of their own, nothing keeps one from being the browser.
        may_show = (lambda _: True) if self.freezer is None else self.freezer.is_browser
        tracker = FocusTracker(environment, connect=self.buses, is_browser=may_show)
        tracker.open()
        # In a thread: the tracker's own thread may be waiting for the event loop, which connects it
        # to a bus.
        stack.push_async_callback(asyncio.to_thread, tracker.close)
        step_log = await stack.enter_async_context(
            StepLog(recorder.add_step, tracker, self.redactor)
        )
        return RecordingParts(recorder, catalog, tracker, step_log)

    async def open_registry(
        self,
        stack: AsyncExitStack,
        environment: CommandEnvironment,
        cgroup: Choice,
        git: GitParts | None = None,
    ) -> Registry:
        """Open the registry of commands; with ``git`` it notes the paths that they touch."""
        limits = self.context.limits
        settings = process_settings(
            self.context.settings,
            self.context.directory,
            cgroup,
            processes=None if limits is None else limits.processes,
            applications=self.context.application_cgroup,
        )
        copies = HelperOutputs(self.helper, self.disk_refusal)
        touched: Touched = (lambda chat, paths: None) if git is None else git.paths.note
        registry = Registry(
            *(environment, settings),
            touched=touched,
            copies=copies,
            launcher=self.context.launcher,
        )
        return await stack.enter_async_context(registry)

    async def open_computer(
        self,
        stack: AsyncExitStack,
        kind: type[Computer],
        devices: tuple[Screen, InputDevice],
        focus: FocusSource,
        recording: RecordingParts,
    ) -> Computer:
        """Open the computer, whose actions become steps of the recordings."""
        computer = kind(
            *devices,
            self.renderer,
            record=lambda record: self.record(record, recording.step_log),
            instance_id=self.context.instance,
            access=self.lease,
            windows=focus,
            typing_policy=TypingPolicy(
                recording.focus_tracker,
                self.freezer or NoFreezer(),
                window=lambda: None if (found := focus.focused()) is None else found.id,
                pages=BrowserPageEntry(lambda: self.pipes.current),
            ),
        )
        return await stack.enter_async_context(computer)

    def open_lease(
        self,
        stack: AsyncExitStack,
        computer: Computer,
        recorder: Recorder,
        selections: Callable[[], Selections | None],
        update_viewers: Callable[[], None],
        record: Callable[[ControlSession], None],
    ) -> None:
        """Give effect to changes of the lease."""
        effects = LeaseEffects(
            privacy=self.privacy,
            selections=selections,
            release_input=computer.release_soon,
            update_viewers=update_viewers,
            publish=self.events.publish,
            record=record,
            note_activity=recorder.note_activity,
        )
        stack.enter_context(self.lease.running(effects))

    async def serve(self, app: ASGIApp, bound: socket, ready: Callable[[], None]) -> None:
        """Serve until SIGTERM, the idle timeout or the end of the input.

        ``ready`` is called when requests are accepted.
        """
        idle_timeout = IdleTimeout(AccessLog(app), time.monotonic)
        server = Serving(idle_timeout, ready, self._close)
        with RefusalReporter(self.context.network, self.events.publish):
            settings, end = self.context.settings, server.ask_to_end
            async with (
                idle_timeout.ending(settings.linger, end),
                ending_with_input(end) if settings.until_input_ends else nullcontext(),
            ):
                await server.run_until_asked(bound)

    def check_start(self) -> None:
        """Check that a command may start.

        Raises:
            HumanInControl: While a person is in control in private, where processes are stopped.
        """
        if self.freezer is not None:
            self.lease.check_view()
            # It would be stopped as soon as it runs.
            self.lease.end_pause()

    def disk_refusal(self) -> str:
        """Return why no new content is accepted; empty if the disk is not low."""
        return self.disk.space().refusal

    def status_facts(self, parts: OpenParts, display: str, size: Size, viewers: int) -> StatusFacts:
        """Return the present facts for the status."""
        now = time.monotonic()
        settings, account = self.context.settings, self.context.account
        return StatusFacts(
            instance=self.context.instance,
            display=display,
            size=size,
            uptime=now - self._started,
            viewers=viewers,
            lease=self.lease.state(),
            recording_ids=parts.recording.recorder.active(),
            since_last_action=None if self._last_action is None else now - self._last_action,
            command_limits=parts.cgroup.to_json(
                settings.command_memory_bytes, settings.command_cpus
            ),
            level=account.level,
            user=account.agent.name,
            protections=self.context.protections.to_json(),
            limits=None if self.context.limits is None else self.context.limits._asdict(),
            version=VERSION,
            egress=self.context.network.to_json(),
            disk=self.disk.space().to_json(),
            speak=settings.speak,
        )

    def ready_message(
        self, url: str, pid: int, display: str, size: Size, mode: str | None = None
    ) -> ReadyMessage:
        """Return the message for a program that started the service."""
        context = self.context
        return ReadyMessage(
            *(url, context.token, pid, display, size, context.account.level, VERSION),
            mode=mode,
            warnings=tuple(context.protections.warnings),
            egress=context.network.to_json(),
            speak=context.settings.speak,
        )

    def record(self, record: ActionRecord, step_log: StepLog) -> None:
        """Record an action that was performed: in metrics, recordings and the status."""
        self._last_action = record.ended
        self.tally.add(record)
        step_log.write(record)

    def _close(self) -> None:
        # Responses without an end, such as event streams, would hold up the shutdown.
        self.closing.set()
        self.events.close()


def announce(line: str) -> None:
    """Write one line for the parent process, which waits for it."""
    print(line, flush=True)  # noqa: T201 - standard output is the parent's interface
