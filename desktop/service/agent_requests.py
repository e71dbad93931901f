"""Requests of the agent's programs, served by the parts of one desktop."""

import asyncio
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from deskhand.desktop.actions.requests import action_request, batch_request
from deskhand.desktop.agent_socket.ancestry import CommandRoot, ProcessLink, RequestOrigin
from deskhand.desktop.agent_socket.errors import RefusedRequest
from deskhand.desktop.agent_socket.messages import (
    AgentRequest,
    CredentialWanted,
    InputWanted,
    OpeningWanted,
    ProgramWanted,
    StatusAsked,
    StatusReported,
)
from deskhand.desktop.agent_socket.server import AgentAnswer, LaunchedProgram
from deskhand.desktop.agent_socket.status_messages import STATUS_EVENT, StatusMessages
from deskhand.desktop.applications.applications import BROWSER, InstalledApplications
from deskhand.desktop.applications.launcher import ProcessLauncher
from deskhand.desktop.browser.arguments import refusal_of, refused_switch
from deskhand.desktop.computer.computer import Computer
from deskhand.desktop.computer.responder import ActionResponder, action_digest
from deskhand.desktop.fields import Json
from deskhand.desktop.git.credential_prompts import Question
from deskhand.desktop.metrics.exposition import Tally
from deskhand.desktop.processes.errors import NotRunning
from deskhand.desktop.processes.registry import Registry
from deskhand.desktop.processes.requests import SignalRequest
from deskhand.desktop.tool_calls.caller import Caller
from deskhand.desktop.tool_calls.once import OncePerCall

MOST_COMMANDS = 100_000
"""Records of processes; more than a registry holds."""

_STATUS = ("instance_id", "display", "size", "level", "user", "version")
"""Fields of the status route that the socket shows too."""


@dataclass(frozen=True)
class AgentRequests:
    """Serves the agent's socket of one desktop."""

    registry: Registry
    applications: InstalledApplications
    launcher: ProcessLauncher
    computer: Computer
    once: OncePerCall
    status: Callable[[], Json]
    check_start: Callable[[], None]
    """Raises while commands are not started."""
    credential: Callable[[Question], str | None]
    browser_refusal: str
    """Why the browser does not start; empty if it does."""
    tally: Tally
    publish: Callable[[str, Json], object]
    """Publishes an event of the desktop."""
    panel: Callable[[], Collection[int]]
    """Returns the pids of the programs by which a person launches others."""
    status_messages: StatusMessages = field(default_factory=StatusMessages)

    async def starts_settled(self) -> None:
        """Return when the commands that start at this moment are among the running ones."""
        await self.registry.spawner.settled()

    def commands(self) -> Sequence[CommandRoot]:
        """Return the running commands."""
        return [
            CommandRoot(ProcessLink(one.process.group, one.process.start_ticks), one.chat)
            for one in self.registry.listing(None, limit=MOST_COMMANDS).records
            if one.running and one.process.start_ticks is not None
        ]

    def launchers(self) -> Collection[int]:
        """Return the pids of the panel and the window manager."""
        return self.panel()

    async def answer(self, request: AgentRequest, origin: RequestOrigin) -> AgentAnswer:
        """Do what is requested.

        Raises:
            DesktopError: If it is refused or fails.
        """
        if origin.browser and not isinstance(request, OpeningWanted):
            message = "The browser can have files and addresses opened, and nothing else."
            raise RefusedRequest("refused_user", message)
        if isinstance(request, StatusAsked):
            status = self.status()
            chosen = {name: status[name] for name in _STATUS if name in status}
            return AgentAnswer({**chosen, "chat_id": origin.chat_id or None})
        if isinstance(request, StatusReported):
            return self._report(request, origin)
        if isinstance(request, CredentialWanted):
            return self._credential(request, origin)
        if isinstance(request, InputWanted):
            return await self._input(request, origin)
        if not origin.panel:
            self.check_start()
        if isinstance(request, ProgramWanted):
            return await self._program(request, origin)
        return await self._opening(request, origin)

    def _report(self, request: StatusReported, origin: RequestOrigin) -> AgentAnswer:
        message = self.status_messages.offer(origin.chat_id, request.text, time.monotonic())
        self.tally.add_status(dropped=message is None)
        if not origin.chat_id:
            raise RefusedRequest("no_chat", "The process that reports belongs to no chat.")
        if message is None:
            return AgentAnswer({"dropped": True})
        self.publish(STATUS_EVENT, message.to_json())
        return AgentAnswer({"accepted": True})

    def _credential(self, request: CredentialWanted, origin: RequestOrigin) -> AgentAnswer:
        question = Question(0, origin.chat_id, request.branch, request.origin, request.prompt)
        found = self.credential(question)
        if found is None:
            message = f"nothing is known here that answers: {request.prompt}"
            raise RefusedRequest("unknown_credential", message)
        return AgentAnswer({"answer": found})

    async def _input(self, request: InputWanted, origin: RequestOrigin) -> AgentAnswer:
        if not origin.command:
            message = (
                "The process that asks is no descendant of a running command, so it belongs to no "
                "chat: its parent has ended, or it was started from the panel."
            )
            raise RefusedRequest("no_chat", message)
        parse = batch_request if request.is_batch else action_request
        responder = ActionResponder(
            self.computer,
            parse(request.body, self.computer.size),
            Caller(chat_id=origin.chat_id),
        )
        digest = action_digest("agent.sock", request.body)
        status, body = await responder.once(self.once, digest, "")
        if status != 200:
            raise RefusedRequest(body.get("code") or "failed", str(body.get("message")))
        return AgentAnswer(body)

    async def _program(self, request: ProgramWanted, origin: RequestOrigin) -> AgentAnswer:
        plain = not any(one.startswith("-") for one in request.arguments)
        if request.name == BROWSER:
            if self.browser_refusal:
                raise RefusedRequest("no_browser", f"not started: {self.browser_refusal}")
            switch = refused_switch(request.arguments)
            if switch is not None:
                raise RefusedRequest("refused_switch", refusal_of(switch))
            # The switches that are left start no program.
            plain = True
        command = await asyncio.to_thread(
            self.applications.by_name, request.name, request.arguments
        )
        return await self._launched(command, request.name, origin, application=plain)

    async def _opening(self, request: OpeningWanted, origin: RequestOrigin) -> AgentAnswer:
        opening = (
            self.applications.opening_path if request.is_path else self.applications.opening_url
        )
        command = await asyncio.to_thread(opening, request.target)
        return await self._launched(command, command.split()[0], origin, application=True)

    async def _launched(
        self, command: str, name: str, origin: RequestOrigin, *, application: bool
    ) -> AgentAnswer:
        process_id = await self.launcher.launch(
            command, name[:64], origin.chat, application=application
        )
        record = self.registry.find(process_id, None)

        async def exit_code() -> int:
            await record.process.wait_exit()
            return 0 if record.process.exit is None else record.process.exit.code

        async def end() -> None:
            with suppress(NotRunning):
                await self.registry.signal(record, SignalRequest("terminate"))

        return AgentAnswer({"process_id": process_id}, LaunchedProgram(exit_code, end))
