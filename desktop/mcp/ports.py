"""Ports of the MCP server."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .tool import McpResult, McpTool

Json = dict[str, Any]


class DesktopRequests(Protocol):
    """The HTTP API of one desktop, with the rights of the caller of a tool.

    Raises ``DesktopRefused`` for an error response, ``DesktopUnavailable`` if there is none.
    """

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
        """Send one request and return its JSON body; ``bytes`` if it is not JSON."""


class ToolCalls(Protocol):
    """The tools that one caller is offered, with that caller's rights."""

    @property
    def instructions(self) -> str:
        """Advice for the model, at most 1,500 characters."""

    def tools(self) -> Sequence[McpTool]:
        """Return the offered tools."""

    async def call(self, name: str, arguments: Json) -> McpResult:
        """Execute a call within the time that hosts wait; a failure is a result.

        Cancelling stops the wait, but nothing that was started.
        """

    async def answer(self, chat_id: str, text: str, question: str = "") -> None:
        """Answer the question of an agent that a result named, or its open one."""

    async def resources(self) -> Sequence[Json]:
        """Return ``uri``, ``name``, ``title`` and ``mimeType`` of each resource."""

    async def read(self, uri: str) -> Json:
        """Return ``mimeType`` and ``text`` or ``blob`` (bytes) of a resource.

        Raises ``McpError``.
        """


@dataclass(frozen=True)
class McpCaller:
    """The caller of a request, and the tools that it is offered."""

    key: str
    """Names the credential and the chat; the server remembers nothing by any other name."""
    calls: ToolCalls
