"""Starts applications as processes that the process list shows."""

import json
from collections.abc import Mapping

from deskhand.desktop.errors import ActionFailed, InvalidAction
from deskhand.desktop.processes.registry import Registry
from deskhand.desktop.processes.requests import start_request
from deskhand.desktop.tool_calls.chat import chat_of
from deskhand.desktop.tool_calls.errors import ToolCallError


class ProcessLauncher:
    """The process list of one desktop, as launching needs it."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    async def start(self, command: str, name: str, headers: Mapping[str, str]) -> str:
        """Start a command in the background, for the chat that the headers name.

        Returns its id in the process list.

        Raises:
            InvalidAction: If the headers name no chat that can be one.
            ActionFailed: If it cannot be started.
        """
        body = {"command": command, "background": True, "name": name}
        try:
            asked = start_request(json.dumps(body).encode())
            chat = chat_of(headers)
        except ToolCallError as error:
            raise InvalidAction("Cannot launch that.", str(error)) from error
        try:
            return (await self._registry.start(asked, chat))[0]
        except ToolCallError as error:
            raise ActionFailed("Launch failed.", str(error)) from error
