"""A tool of the MCP server as a tool of a chat: its call is a step, with the chat's masks."""

from collections.abc import Mapping
from itertools import count
from typing import Any, Protocol, runtime_checkable

from deskhand.desktop.errors import DesktopRefused, DesktopUnavailable
from deskhand.desktop.mcp.calls.desktop_calls import DesktopCalls
from deskhand.desktop.mcp.calls.seen_screens import SeenScreens
from deskhand.desktop.mcp.errors import McpError
from deskhand.desktop.mcp.selection import ToolSelection
from deskhand.desktop.mcp.tool import McpImage, McpResult
from deskhand.tools.kit.support.spec import (
    Json,
    Machine,
    MachineRefused,
    MachineUnavailable,
    ToolContext,
    ToolOutcome,
    ToolSpec,
)

TEXT = "text"
"""Field of the outcome with the text of the result."""


@runtime_checkable
class NumberedMachine(Protocol):
    """A machine whose requests carry the id of a call."""

    def for_call(self, tool_call_id: str) -> Machine:
        """Return the same machine for a call of another id."""


class ChatRequests:
    """Implements ``DesktopRequests`` with the machine of a chat.

    One call makes several requests. Each needs an id of its own, because a repeated id is answered
    with the first result.
    """

    def __init__(self, context: ToolContext) -> None:
        self._context = context
        self._numbers = count(1)

    async def request(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        content: bytes | None = None,
        params: Mapping[str, str] | None = None,
        timeout: float = 30.0,
    ) -> Any:
        """Send one request; raises ``DesktopRefused`` or ``DesktopUnavailable``."""
        machine = self._context.machine
        if isinstance(machine, NumberedMachine):
            machine = machine.for_call(f"{self._context.tool_call_id}.{next(self._numbers)}")
        try:
            return await machine.request(
                method, path, json=json, content=content, params=params, timeout=timeout
            )
        except MachineRefused as error:
            raise DesktopRefused(error.status, error.message, error.detail, error.code) from error
        except MachineUnavailable as error:
            raise DesktopUnavailable(str(error)) from error


class ChatTool:
    """One call of a tool that works on the desktop of a chat."""

    def __init__(self, name: str, seen: SeenScreens, key: str, selection: ToolSelection) -> None:
        self._name = name
        self._seen = seen
        self._key = key
        self._selection = selection
        self._image: McpImage | None = None

    @property
    def spec(self) -> ToolSpec:
        """The name; the tool is listed by the MCP server and by nothing else."""
        return ToolSpec(self._name, "", {"type": "object"})

    async def call(self, arguments: Json, context: ToolContext) -> ToolOutcome:
        """Execute the call; its image is kept for `result`, apart from the step."""
        calls = DesktopCalls(ChatRequests(context), self._seen, self._key, self._selection)
        found = await calls.call(self._name, arguments)
        self._image = found.image
        return ToolOutcome(
            {**found.content, TEXT: found.text}, found.text if found.is_error else None
        )

    def result(self, outcome: ToolOutcome) -> McpResult:
        """Return the result of the call from its outcome, in which secrets are masked."""
        content = {name: value for name, value in outcome.value.items() if name != TEXT}
        text = outcome.error or str(outcome.value.get(TEXT, ""))
        return McpResult(text, content, self._image, is_error=outcome.is_error)


class ReadTool:
    """Reads a resource of the desktop of a chat."""

    def __init__(self, uri: str, selection: ToolSelection) -> None:
        self._uri = uri
        self._selection = selection

    @property
    def spec(self) -> ToolSpec:
        """The name of its steps."""
        return ToolSpec("read_resource", "", {"type": "object"})

    async def call(self, arguments: Json, context: ToolContext) -> ToolOutcome:
        """Return ``mimeType`` and ``text``, or an error."""
        calls = DesktopCalls(ChatRequests(context), SeenScreens(), "", self._selection)
        try:
            return ToolOutcome(await calls.read(self._uri))
        except McpError as error:
            return ToolOutcome(error=str(error))
