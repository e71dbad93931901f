"""One named desktop behind a control plane, for the tools that need no chat."""

from collections.abc import Mapping, Sequence
from typing import Any

from deskhand.desktop.errors import DesktopUnavailable
from deskhand.desktop.mcp.calls.desktop_calls import DesktopCalls
from deskhand.desktop.mcp.calls.seen_screens import SeenScreens
from deskhand.desktop.mcp.selection import ToolSelection
from deskhand.desktop.mcp.tool import Json, McpResult, McpTool

from .relay import PlaneSource, RelayedCalls

_API = "/api/v0/"


class ProxiedDesktop:
    """Implements ``DesktopRequests`` with the control plane's proxy."""

    def __init__(self, plane: PlaneSource, desktop_id: str) -> None:
        self._plane = plane
        self._desktop_id = desktop_id

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
        plane = await self._plane()
        try:
            return await plane.client.request(
                method,
                proxied(path, self._desktop_id),
                json=json,
                content=content,
                params=params,
                headers={"Deskhand-Chat-Id": plane.chat_id},
                timeout=timeout,
            )
        except DesktopUnavailable:
            await self._plane.check()
            raise


class NamedDesktopCalls:
    """Implements ``ToolCalls``: the named desktop's tools, and the control plane's for agents."""

    def __init__(
        self,
        plane: PlaneSource,
        desktop_id: str,
        selection: ToolSelection,
    ) -> None:
        self._relayed = RelayedCalls(plane, selection)
        self._desktop = DesktopCalls(
            ProxiedDesktop(plane, desktop_id),
            *(SeenScreens(), "stdio", selection),
            link=lambda path: proxied(path, desktop_id),
        )

    @property
    def instructions(self) -> str:
        """Advice for the model."""
        return self._relayed.instructions

    def tools(self) -> Sequence[McpTool]:
        """Return the offered tools."""
        return self._relayed.tools()

    async def call(self, name: str, arguments: Json) -> McpResult:
        """Execute a call; raises ``UnknownMcpTool``."""
        if name in {tool.name for tool in self._desktop.tools()}:
            return await self._desktop.call(name, arguments)
        return await self._relayed.call(name, arguments)

    async def answer(self, chat_id: str, text: str, question: str = "") -> None:
        """Answer the question of an agent."""
        await self._relayed.answer(chat_id, text, question)

    async def resources(self) -> Sequence[Json]:
        """Return the screenshot and the recordings of the desktop."""
        return await self._desktop.resources()

    async def read(self, uri: str) -> Json:
        """Return the content of a resource of the desktop."""
        return await self._desktop.read(uri)


def proxied(path: str, desktop_id: str) -> str:
    """Return the path of a desktop's API as the control plane serves it."""
    return f"{_API}desktops/{desktop_id}/{path.removeprefix(_API)}"
