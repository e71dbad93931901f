"""Starts applications as processes that appear in the process list."""

import json
from collections.abc import Mapping

from deskhand.desktop.errors import ActionFailed, InvalidAction
from deskhand.desktop.processes.registry import Registry
from deskhand.desktop.processes.requests import LaunchRequest, start_request
from deskhand.desktop.tool_calls.caller import chat_of
from deskhand.desktop.tool_calls.errors import ToolCallError


class ProcessLauncher:
    """Adapter from the process registry of one desktop to the port of `api`."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

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
        body = {"command": command, "background": True, "name": name}
        try:
            # Through the parser of the process route, so that both routes apply the same checks and
            # defaults.
            request = start_request(json.dumps(body).encode())
            if application:
                request = LaunchRequest(**vars(request))
            chat = chat_of(headers)
        except ToolCallError as error:
            raise InvalidAction("Cannot launch that.", str(error)) from error
        try:
            return (await self._registry.start(request, chat))[0]
        except ToolCallError as error:
            raise ActionFailed("Launch failed.", str(error)) from error
