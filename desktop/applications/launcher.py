"""Starts applications as processes that appear in the process list."""

import json
import shlex
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from deskhand.desktop.browser.arguments import refused_switch
from deskhand.desktop.errors import ActionFailed, InvalidAction
from deskhand.desktop.processes.registry import Registry
from deskhand.desktop.processes.requests import LaunchRequest, start_request
from deskhand.desktop.programs.program import UserName
from deskhand.desktop.tool_calls.caller import CallingChat, chat_of
from deskhand.desktop.tool_calls.errors import ToolCallError

from .applications import BROWSER

PIPE_MARK = "DESKHAND_BROWSER_PIPE"
"""Variable of a browser that has the debugging pipe as its descriptors 3 and 4."""


class ProcessLauncher:
    """Adapter from the process registry of one desktop to the port of `api`.

    ``programs`` is the folder of the scripts that start the desktop's own browser and terminal, if
    the scripts on the PATH only ask for that; ``path`` returns the PATH of commands. ``pipes``
    opens descriptors that the browser gets, named by `PIPE_MARK` in its environment.
    ``browser_environment`` replaces variables of a browser with a user of its own; None if it has
    that of the applications.
    """

    def __init__(
        self,
        registry: Registry,
        programs: Path | None = None,
        path: Callable[[], str] = lambda: "",
        pipes: Callable[[], AbstractContextManager[tuple[int, ...]]] | None = None,
        browser_environment: Mapping[str, str] | None = None,
    ) -> None:
        self._pipes = pipes
        self._browser_environment = browser_environment
        self._registry = registry
        self._programs = programs
        self._path = path

    async def start(
        self, command: str, name: str, headers: Mapping[str, str], *, application: bool = False
    ) -> str:
        """Start a command in the background for the chat named in the headers.

        Returns its id in the process list. ``application`` marks a program that is installed here
        and got no options from the caller.

        Raises:
            InvalidAction: If the chat id in the headers is malformed.
            ActionFailed: If the command cannot be started.
        """
        try:
            chat = chat_of(headers)
        except ToolCallError as error:
            raise InvalidAction("Cannot launch that.", str(error)) from error
        if application:
            return await self.launch(command, name, chat, application=True)
        return await self._started({"command": command, "name": name}, chat, application=False)

    async def launch(
        self, command: str, name: str, chat: CallingChat | None, *, application: bool
    ) -> str:
        """Start the desktop's own browser or terminal, or another program, for a chat.

        Raises:
            InvalidAction: If the command line is no text.
            ActionFailed: If it cannot be started.
        """
        body: dict[str, Any] = {"command": command, "name": name}
        if self._programs is None:
            return await self._started(body, chat, application=application)
        environment = body["env"] = {"PATH": f"{self._programs}:{self._path()}"}
        if not application or not _is_browser(command):
            return await self._started(body, chat, application=application)
        user: UserName = "agent"
        if self._browser_environment is not None:
            user = "browser"
            environment |= self._browser_environment
            environment["PATH"] = f"{self._programs}:{environment['PATH']}"
        with nullcontext(()) if self._pipes is None else self._pipes() as descriptors:
            if descriptors:
                environment[PIPE_MARK] = "1"
            return await self._started(
                body, chat, application=True, descriptors=descriptors, user=user
            )

    def pid_of(self, process_id: str) -> int | None:
        """Return the pid of a program that was started, None if it is not known any more."""
        try:
            return self._registry.find(process_id, None).process.group
        except ToolCallError:
            return None

    async def _started(
        self,
        body: dict[str, Any],
        chat: CallingChat | None,
        *,
        application: bool,
        descriptors: tuple[int, ...] = (),
        user: UserName = "agent",
    ) -> str:
        try:
            # Through the parser of the process route, so that both routes apply the same checks and
            # defaults.
            request = start_request(json.dumps({**body, "background": True}).encode())
            if application:
                request = LaunchRequest(**vars(request), descriptors=descriptors, user=user)
        except ToolCallError as error:
            raise InvalidAction("Cannot launch that.", str(error)) from error
        try:
            return (await self._registry.start(request, chat))[0]
        except ToolCallError as error:
            raise ActionFailed("Launch failed.", str(error)) from error


def _is_browser(command: str) -> bool:
    """Return True for the desktop's own browser with arguments that start no other program."""
    # The command line has one program: `InstalledApplications` quotes all words after the first.
    words = shlex.split(command)
    return words[0] == BROWSER and refused_switch(words[1:]) is None
