"""One desktop service with an X server of its own: every part of one display, composed.

Opened in this order and closed in the reverse order: cgroup, agent helper, child processes,
display, downloads, focus, recording, askpass, processes, computer, lease. The display comes before
all that reads it, and the lease comes last: control of an incomplete desktop cannot be taken.
"""

import asyncio
import encodings.idna  # noqa: F401 - otherwise loaded at the first host name, see preload()
import os
import secrets
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from socket import socket
from typing import Any

from deskhand.desktop.agent_helper.downloads import DownloadEvents
from deskhand.desktop.agent_helper.launch import HelperForks
from deskhand.desktop.agent_socket.client_files import ASKPASS
from deskhand.desktop.agent_socket.server import AgentSocketServer
from deskhand.desktop.browser.launch import prepare
from deskhand.desktop.browser.policy import BrowserLaunch
from deskhand.desktop.capture.framebuffer import Framebuffer
from deskhand.desktop.capture.idle_memory import IdleMemory
from deskhand.desktop.clipboard.clipboard import ViewersText
from deskhand.desktop.computer.computer import Computer
from deskhand.desktop.display.agent_filter import DisplaySockets, FilteredDisplay
from deskhand.desktop.display.api import WaitingUpstream, display_ready
from deskhand.desktop.display.api import router as display_router
from deskhand.desktop.display.child_processes import ChildProcessSpawner
from deskhand.desktop.display.deferred_socket import DeferredSocket
from deskhand.desktop.display.hang_guard import HangGuard
from deskhand.desktop.display.instance import (
    DisplayInstance,
    DisplayInstanceFactory,
    InstanceOptions,
)
from deskhand.desktop.display.proxies import InputProxy, ScreenProxy
from deskhand.desktop.display.session_files import XRESOURCES, SessionFiles
from deskhand.desktop.display.supervisor import DisplaySupervisor
from deskhand.desktop.display.x_server import (
    BROWSER_AUTHORITY,
    FOR_GROUP,
    RFB_SOCKET,
    XServer,
    make_socket_directory,
    socket_of,
    write_cookie,
)
from deskhand.desktop.freeze.keyboard_guard import Grab
from deskhand.desktop.isolation.bus_config import SESSION_BUS
from deskhand.desktop.isolation.environment import BROWSER_HOME, of_service
from deskhand.desktop.launch.display_number import free_display
from deskhand.desktop.lease.api import may_force
from deskhand.desktop.lease.handover import WindowEventPublisher, activity_summary
from deskhand.desktop.lease.lease import ControlSession
from deskhand.desktop.recordings.steps import step_from_control_session
from deskhand.desktop.windows.focus import Focus
from deskhand.desktop.x11.root_window import RootWindow
from deskhand.recording.pipeline.recorder import Recorder
from deskhand.vncbridge.rfb.proxy import UnixUpstream
from deskhand.vncbridge.rfb.viewers import Viewers
from deskhand.vncbridge.server.server import Address
from deskhand.vncbridge.viewer.pages import router as pages_router

from .agent_requests import AgentRequests
from .git_parts import GitParts
from .mcp_parts import open_tool_servers
from .origins import origins
from .parts import PROGRAMS, CommonParts, OpenParts, ServiceContext, announce
from .preload import Preloaded, warm_up
from .routes import LiveView, ScreenAccess, application, launching
from .status import XServerFacts, own_display_status

_NO_LIVE_VIEW = "Its X server is Xvfb, which has no live view."

Display = DisplaySupervisor[DisplayInstance]


class DesktopService:
    """One display with everything that is served of it."""

    def __init__(self, context: ServiceContext, preloaded: Preloaded) -> None:
        self._context = context
        self._preloaded = preloaded
        self._common = CommonParts(context)
        self._git = GitParts(
            context.directory.path, self._common.events.publish, self._common.redactor
        )
        self._cookie = secrets.token_bytes(16)
        self._opened: tuple[Display, InstanceOptions] | None = None

    async def run(self, bound: socket, address: Address) -> None:
        """Serve until SIGTERM; everything that was opened is closed when this returns."""
        async with AsyncExitStack() as stack:
            stack.enter_context(self._common.logged())
            display, options, parts = await self._open(stack)
            screen = self._screen(display, options, parts)
            app = application(
                *(self._common, parts, screen, self._preloaded.dialects), git=self._git
            )
            await self._serve_agent(stack, display, options, parts, screen)
            memory = IdleMemory(lambda: _framebuffer(display), self._common.renderer)
            await stack.enter_async_context(memory.running())
            guarded = HangGuard(app, lambda: _xserver(display))
            stack.push_async_callback(guarded.close)
            code = await self._common.credentials.new_code()
            await self._common.serve(
                guarded, bound, lambda: self._announce(address, display, options, code)
            )

    def environment(self) -> dict[str, str]:
        """Return the whole environment that a command starts from."""
        if self._opened is None:
            return dict(self._common.environment)
        display, options = self._opened
        instance = display.latest
        found = options.before_start() if instance is None else instance.session.environment
        return found | self._askpass()

    def workdir(self) -> Path | None:
        """Return the directory in which commands run that name none."""
        return self._common.workdir

    def _askpass(self) -> dict[str, str]:
        """Return the variables that name the program by which git and ssh ask for credentials."""
        if self._common.programs is None:
            return self._git.askpass.environment
        path = str(self._context.directory.path / ASKPASS)
        return {"GIT_ASKPASS": path, "SSH_ASKPASS": path}

    async def _serve_agent(
        self,
        stack: AsyncExitStack,
        display: Display,
        options: InstanceOptions,
        parts: OpenParts,
        screen: ScreenAccess,
    ) -> None:
        """Serve the agent's programs, if they have a socket."""
        bound, common = self._context.agent_socket, self._common
        if bound is None:
            return
        applications, launcher = launching(common, parts, screen)
        services = AgentRequests(
            *(parts.registry, applications, launcher, parts.computer, common.once),
            status=lambda: self._status(display, options, parts),
            check_start=common.check_start,
            tally=common.tally,
            publish=common.events.publish,
            credential=self._git.attribution.answer,
            browser_refusal=options.browser.refusal,
            panel=lambda: common.origins().launchers,
        )
        server = AgentSocketServer(bound, services, browser_user=self._browser_user)
        await stack.enter_async_context(server)

    async def _open(self, stack: AsyncExitStack) -> tuple[Display, InstanceOptions, OpenParts]:
        common, home = self._common, self._context.directory.path / "home"
        cgroup = common.open_cgroup(stack)
        stack.callback(common.pipes.close)
        await stack.enter_async_context(common.helper)
        spawner = stack.enter_context(self._spawner())
        if common.programs is not None:
            self._preloaded.files.clients.write(self._context.directory.path)
        for dialect in self._preloaded.dialects:
            folder = self._context.directory.path
            dialect.write_files(folder, str(folder / "bin" / "browser"))
        # The display starts before the recorder, and gets its first input after it.
        browser = await asyncio.to_thread(self._prepare_browser)
        sockets = self._filtered(stack)
        files = self._session_files(sockets)
        clipboard = ViewersText(lambda: display.current().clipboard)
        self._viewers = Viewers(control=common.lease, clipboard=clipboard)
        deferred = self._defer(stack, browser, files, sockets, lambda: display.want())
        options = replace(
            self._options(spawner, browser, files, lambda: recording.recorder.touch()),
            deferred=deferred,
            sockets=sockets,
        )
        # In a thread, as this one waits for the X server.
        warming = asyncio.get_running_loop().run_in_executor(None, warm_up)
        display = stack.enter_context(
            DisplaySupervisor(
                DisplayInstanceFactory(options),
                common.events.publish,
                deferred=self._context.settings.display != "at-start",
            )
        )
        await warming
        devices = ScreenProxy(display, self._context.settings.size), InputProxy(display)
        self._opened = display, options
        await stack.enter_async_context(
            DownloadEvents(common.helper, home / "Downloads", common.events.publish)
        )

        def place() -> tuple[str, Path]:
            return _address(display.newest)

        if common.freezer is not None:
            common.freezer.keyboard = partial(_keyboard, display)
        focus = Focus(place)
        stack.callback(focus.close)
        recording = await common.open_recording(stack, devices[0], self.environment)
        if common.programs is None:
            stack.enter_context(self._git.askpass)
        registry = await common.open_registry(stack, self, cgroup, self._git)
        servers = await open_tool_servers(stack, common, self, cgroup)
        common.origins = lambda: origins(common, spawner, display.latest, registry)
        computer = await common.open_computer(stack, Computer, devices, focus, recording)
        common.open_lease(
            *(stack, computer, recording.recorder),
            lambda: None if display.latest is None else display.latest.selections,
            self._viewers.apply_control_change,
            lambda session: _record(session, recording.recorder),
        )
        return display, options, OpenParts(computer, recording, registry, cgroup, servers)

    def _filtered(self, stack: AsyncExitStack) -> DisplaySockets | None:
        """Listen for the agent's clients if these are filtered."""
        context, forks = self._context, self._context.start_helper
        # The extension GLX reads windows of others.
        if not context.account.separated or context.settings.glx:
            return None
        if not isinstance(forks, HelperForks):
            raise TypeError("only a fork server starts filters as the service's user")
        make_socket_directory()
        numbers = self._number(stack), stack.enter_context(free_display())
        folder = "run/service" if self._browser_user is None else BROWSER_HOME
        users = (context.account.agent.uid, context.account.browser.uid)
        filtered = FilteredDisplay(*numbers, context.directory.path / folder, users, forks)
        return stack.enter_context(DisplaySockets(filtered))

    def _number(self, stack: AsyncExitStack) -> int:
        given = self._context.display
        return stack.enter_context(free_display()) if given is None else given

    def _defer(
        self,
        stack: AsyncExitStack,
        browser: BrowserLaunch,
        files: SessionFiles,
        sockets: DisplaySockets | None,
        used: Callable[[], None],
    ) -> DeferredSocket | None:
        """Listen on the display's socket if the display starts later; write what commands run."""
        if self._context.settings.display == "at-start":
            return None
        users = self._context.account.uids
        if sockets is not None:
            files.write(self._context.directory.path, self._common.environment, browser)
            sockets.await_client(used)
            path = sockets.display.server_socket
            return stack.enter_context(DeferredSocket(path, used, users, self._browser_user))
        make_socket_directory()
        number = self._number(stack)
        folder = self._context.directory.path
        files.write(folder, self._common.environment, browser)
        if self._browser_user is None:
            # A browser may start before the X server, and reads its cookie then.
            write_cookie(folder / BROWSER_AUTHORITY, self._cookie, FOR_GROUP)
        return stack.enter_context(
            DeferredSocket(socket_of(number), used, users, self._browser_user)
        )

    @property
    def _browser_user(self) -> int | None:
        account = self._context.account
        return account.browser.uid if account.browser_separated else None

    def _spawner(self) -> ChildProcessSpawner:
        limits = self._context.limits
        processes = None if limits is None else limits.processes
        return ChildProcessSpawner(self._context.host_pid, processes, self._context.launcher)

    def _trusted_environment(self) -> dict[str, str]:
        context, environment = self._context, self._common.environment
        if not context.account.separated:
            return environment
        return of_service(environment, context.directory.path, context.account.service.name)

    def _session_files(self, sockets: DisplaySockets | None) -> SessionFiles:
        files = self._preloaded.files.session
        if self._browser_user is not None:
            # The X server admits it without a cookie.
            files = replace(files, browser_authority=Path(os.devnull))
            if sockets is not None:
                files = replace(files, browser_display=f":{sockets.display.trusted}")
        return files if self._common.programs is None else replace(files, programs=PROGRAMS)

    def _prepare_browser(self) -> BrowserLaunch:
        settings = self._context.settings
        return prepare(settings.browser, settings.browser_sandbox, self._common.environment)

    def _options(
        self,
        spawner: ChildProcessSpawner,
        browser: BrowserLaunch,
        files: SessionFiles,
        acted: Callable[[], None],
    ) -> InstanceOptions:
        settings, common = self._context.settings, self._common
        folder = self._context.directory.path
        return InstanceOptions(
            folder=folder,
            size=settings.size,
            environment={**common.environment, "XENVIRONMENT": str(folder / XRESOURCES)},
            spawner=spawner,
            files=files,
            browser=browser,
            acted=acted,
            publish=WindowEventPublisher(common.lease, common.events.publish),
            copied=partial(asyncio.get_running_loop().call_soon_threadsafe, self._viewers.copied),
            layout=settings.layout,
            program=settings.xserver,
            glx=settings.glx,
            display=self._context.display,
            trusted_environment=self._trusted_environment(),
            cookie=self._cookie,
            browser_user=self._browser_user,
            bus_config=None if self._browser_user is None else folder / SESSION_BUS,
        )

    def _screen(self, display: Display, options: InstanceOptions, parts: OpenParts) -> ScreenAccess:
        common = self._common
        upstream = None if options.program != "Xvnc" else UnixUpstream(options.folder / RFB_SOCKET)
        # The tracker has found no bus of a session that had not started.
        track_focus = parts.recording.focus_tracker.connected
        return ScreenAccess(
            size=self._context.settings.size,
            environment=self.environment,
            status=lambda: self._status(display, options, parts),
            # A probe must not wait, so readiness reads the supervisor's state instead of `current`.
            readiness=lambda: _readiness(display),
            windows=lambda: display.current().windows,
            clipboard=lambda: display.current().clipboard,
            home=lambda: self._context.directory.path / "home",
            pages=pages_router(self._preloaded.files.pages),
            no_live_view=_NO_LIVE_VIEW,
            live_view=LiveView(
                self._viewers,
                None
                if upstream is None
                else WaitingUpstream(upstream, display, InputProxy(display).await_focus),
            ),
            wait_ready=display_ready(display),
            display=display_router(display, may_force, track_focus, common.closing),
            background=RootWindow(lambda: _address(display.current())),
        )

    def _status(
        self, display: Display, options: InstanceOptions, parts: OpenParts
    ) -> dict[str, Any]:
        # The status is returned while the display restarts, too; `current` would block until then.
        instance = display.latest
        xserver = XServerFacts(
            pid=None if instance is None else instance.xserver.host_pid,
            live_view=options.program == "Xvnc",
            supervision=display.status(),
            session=options.browser.status() if instance is None else instance.session.status(),
            shared_memory=None if instance is None else instance.framebuffer.shared_memory,
        )
        size, viewers = self._context.settings.size, self._viewers.count
        name = _name(display, options)
        return own_display_status(self._common.status_facts(parts, name, size, viewers), xserver)

    def _announce(
        self, address: Address, display: Display, options: InstanceOptions, code: str
    ) -> None:
        context, name = self._context, _name(display, options)
        if context.settings.as_json:
            size = context.settings.size
            ready = self._common.ready_message(address.url, context.pid, name, size)
            announce(replace(ready, browser_warning=options.browser.warning).line())
        elif address.path is not None:
            # A browser cannot open a Unix socket, so there is no login address.
            announce(f"Desktop {name} is served at {address.url}")
        else:
            # A terminal keeps what was printed. The login code in the address works once, for ten
            # minutes; a token that was read from a file is known to the caller and not printed.
            announce(f"Desktop {name}: {address.url}/login#code={code}")
            if context.settings.token_file is None:
                announce(f"Token for programs: {context.token}")


def _name(display: Display, options: InstanceOptions) -> str:
    if options.number is not None:
        return f":{options.number}"
    return display.newest.xserver.display


def _xserver(display: Display) -> XServer | None:
    return None if display.latest is None else display.latest.xserver


def _framebuffer(display: Display) -> Framebuffer | None:
    return None if display.latest is None else display.latest.framebuffer


def _keyboard(display: Display, thorough: bool) -> Grab:
    keyboard = None if display.latest is None else display.latest.keyboard
    return "unknown" if keyboard is None else keyboard.read(thorough=thorough)


def _address(instance: DisplayInstance) -> tuple[str, Path]:
    return instance.xserver.display, instance.xserver.xauthority


def _readiness(display: Display) -> str:
    # A display that is not used yet needs no time to answer files and processes.
    return "running" if display.state in ("absent", "wanted") else display.state


def _record(session: ControlSession, recorder: Recorder) -> None:
    # Without privacy the recorder makes steps of the person's input while it happens.
    if session.private:
        recorder.add_step(step_from_control_session(session, activity_summary(session)))
