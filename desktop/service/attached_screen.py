"""A desktop service over a screen that exists already: a person's session, without an RFB server.

Opened in this order and closed in the reverse order: cgroup, agent helper, screen,
recording, processes, focus, computer, lease, windows, clipboard. The screen and the programs on it
are never changed or closed.
"""

import os
from collections.abc import Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from socket import socket
from typing import Any

from deskhand.desktop.actions.requests import ActionRequest, BatchRequest
from deskhand.desktop.agent_socket.server import AgentSocketServer
from deskhand.desktop.attach.devices import MssScreen, PyAutoGuiInput
from deskhand.desktop.attach.keys import unreachable
from deskhand.desktop.attach.polled_screen import PolledScreen
from deskhand.desktop.browser.program import find_browser
from deskhand.desktop.clipboard.clipboard import X11Clipboard
from deskhand.desktop.clipboard.private_selections import PrivateSelections
from deskhand.desktop.computer.computer import Computer
from deskhand.desktop.computer.outcomes import BatchOutcome, Outcome
from deskhand.desktop.computer.progress import NO_PROGRESS, ActionProgress
from deskhand.desktop.errors import InvalidAction, NoBrowser
from deskhand.desktop.lease.handover import WindowEventPublisher, activity_summary
from deskhand.desktop.recordings.steps import step_from_control_session
from deskhand.desktop.tool_calls.caller import Caller
from deskhand.desktop.windows.focus import Focus
from deskhand.desktop.windows.watcher import WindowWatch
from deskhand.desktop.windows.windows import X11Windows
from deskhand.vncbridge.server.server import Address
from deskhand.vncbridge.viewer.pages import FOLDER as PAGES
from deskhand.vncbridge.viewer.pages import Assets
from deskhand.vncbridge.viewer.pages import router as pages_router

from .agent_requests import AgentRequests
from .late_modules import Dialect, load_dialects
from .mcp_parts import open_tool_servers
from .parts import CommonParts, OpenParts, ServiceContext, announce
from .routes import ScreenAccess, application, launching
from .status import attached_status

# `built` passes nothing on by default. Without these a command would find neither the person's X
# server and its cookie nor the session bus of AT-SPI.
_SESSION_VARIABLES = ("DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS")
_NO_LIVE_VIEW = "It is attached to a screen that exists already, and takes screenshots only."


class AttachedComputer(Computer):
    """A computer that refuses the characters and buttons that PyAutoGUI would silently omit."""

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
        # All are checked before the first is performed, so that a batch is refused as a whole.
        for request in batch.actions:
            _check(request)
        return await super().batch(batch, caller, journal)


@dataclass(frozen=True)
class AttachedParts:
    """The parts that only an attached screen has, while it is served."""

    screen: PolledScreen
    windows: X11Windows
    clipboard: X11Clipboard


class AttachedScreen:
    """Everything that is served of one screen that exists already."""

    def __init__(self, context: ServiceContext) -> None:
        self._context = context
        self._common = CommonParts(context, inherit=_SESSION_VARIABLES)
        self._display = os.environ.get("DISPLAY", "")
        self._xauthority = Path(os.environ.get("XAUTHORITY", ""))

    async def run(self, bound: socket, address: Address) -> None:
        """Serve until SIGTERM; the screen and the programs on it stay as they are."""
        async with AsyncExitStack() as stack:
            stack.enter_context(self._common.logged())
            attached, parts = await self._open(stack)
            screen = self._screen(attached, parts)
            dialects = load_dialects(self._context.settings.speak)
            app = application(self._common, parts, screen, dialects)
            await self._serve_agent(stack, parts, screen, dialects)
            await self._common.serve(app, bound, lambda: self._announce(address, attached))

    def environment(self) -> dict[str, str]:
        """Return the whole environment that a command starts from."""
        return dict(self._common.environment)

    def workdir(self) -> Path | None:
        """Return the directory in which commands run that name none."""
        return self._common.workdir

    async def _serve_agent(
        self,
        stack: AsyncExitStack,
        parts: OpenParts,
        screen: ScreenAccess,
        dialects: Iterable[Dialect],
    ) -> None:
        """Serve commands of OSWorld, if that is on: others are the service's equals."""
        bound, common = self._context.agent_socket, self._common
        if bound is None:
            return
        for dialect in dialects:
            dialect.write_files(self._context.directory.path, _browser())
        applications, launcher = launching(common, parts, screen)
        services = AgentRequests(
            *(parts.registry, applications, launcher, parts.computer, common.once),
            status=screen.status,
            check_start=common.check_start,
            tally=common.tally,
            publish=common.events.publish,
            credential=lambda _: None,
            browser_refusal="",
            panel=tuple,
        )
        await stack.enter_async_context(AgentSocketServer(bound, services))

    async def _open(self, stack: AsyncExitStack) -> tuple[AttachedParts, OpenParts]:
        common = self._common
        cgroup = common.open_cgroup(stack)
        await stack.enter_async_context(common.helper)
        camera = stack.enter_context(MssScreen())
        screen = stack.enter_context(PolledScreen(camera, self._display))
        recording = await common.open_recording(stack, screen, self.environment)
        recorder = recording.recorder
        registry = await common.open_registry(stack, self, cgroup)
        servers = await open_tool_servers(stack, common, self, cgroup)
        place = (self._display, self._xauthority)
        focus = Focus(lambda: place)
        stack.callback(focus.close)
        devices = screen, PyAutoGuiInput(screen.size, lambda: recorder.touch())
        computer = await common.open_computer(stack, AttachedComputer, devices, focus, recording)
        windows = stack.enter_context(X11Windows(*place))
        clipboard = stack.enter_context(X11Clipboard(*place))
        selections = stack.enter_context(PrivateSelections(*place, clipboard))
        common.open_lease(
            *(stack, computer, recorder),
            lambda: selections,
            # Without an RFB server there are no viewers whose keys a change of control would
            # release.
            lambda: None,
            # Nothing relays a person's input here, so every session becomes a step.
            lambda session: recorder.add_step(
                step_from_control_session(session, activity_summary(session))
            ),
        )
        publish = WindowEventPublisher(common.lease, common.events.publish)
        stack.enter_context(WindowWatch(*place, publish))
        parts = OpenParts(computer, recording, registry, cgroup, servers)
        return AttachedParts(screen, windows, clipboard), parts

    def _screen(self, attached: AttachedParts, parts: OpenParts) -> ScreenAccess:
        return ScreenAccess(
            size=attached.screen.size,
            environment=self.environment,
            status=lambda: self._status(attached, parts),
            readiness=lambda: "running",
            windows=lambda: attached.windows,
            clipboard=lambda: attached.clipboard,
            home=Path.home,
            pages=pages_router(Assets(PAGES)),
            no_live_view=_NO_LIVE_VIEW,
        )

    def _status(self, attached: AttachedParts, parts: OpenParts) -> dict[str, Any]:
        size = attached.screen.size
        return attached_status(self._common.status_facts(parts, self._display, size, viewers=0))

    def _announce(self, address: Address, attached: AttachedParts) -> None:
        if self._context.settings.as_json:
            ready = self._common.ready_message(
                *(address.url, self._context.pid, self._display, attached.screen.size),
                mode="attach",
            )
            announce(ready.line())
        else:
            announce(f"The screen {self._display} is served at {address.url}")
            if self._context.settings.token_file is None:
                announce(f"Token for programs: {self._context.token}")


def _browser() -> str:
    """Return the browser of the machine; empty if there is none."""
    try:
        return find_browser()
    except NoBrowser:
        return ""


def _check(request: ActionRequest) -> None:
    lacking = unreachable(request.action)
    if lacking:
        named = ", ".join(lacking)
        raise InvalidAction(
            f"An attached screen's keyboard and mouse lack {named}.",
            "PyAutoGUI types ASCII only.",
        )
