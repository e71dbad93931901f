"""Ports of the connections to MCP servers."""

import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .server_entry import ServerEntry

Json = dict[str, Any]

Connect = Callable[[str, int], Awaitable[socket.socket]]
"""Returns a non-blocking TCP socket that the agent has connected to a host and port; raises
OSError."""


@dataclass(frozen=True)
class ConfigFile:
    """One file of the configuration as it is now."""

    path: str
    stamp: tuple[int, int] | None
    """Time of the last change in ns, and size; None if there is no file."""
    problem: str = ""
    """Why it cannot be read."""
    content: bytes | None = None
    """None if it was not read."""


class ConfigFiles(Protocol):
    """The files of the configuration, which belong to the agent."""

    async def stamps(self) -> Sequence[ConfigFile]:
        """Return the files without their content."""

    async def read(self) -> Sequence[ConfigFile]:
        """Return the files with their content."""

    def changes(self) -> AsyncGenerator[None, None]:
        """Yield after each change of a file, and when the observation begins.

        It ends when no file can be observed, as when none exists. Closing it ends the observation.
        """


class ToolServerConnection(Protocol):
    """A connected server."""

    @property
    def ended(self) -> str:
        """Why the connection has ended by itself; empty while it is open."""

    @property
    def tools_changed(self) -> bool:
        """Whether the server has reported a change of its tools since they were last listed."""

    async def list_tools(self) -> Sequence[Mapping[str, Any]]:
        """Return the tools, as the protocol describes them.

        Raises:
            ServerFailed: If there is no answer in time.
        """

    async def call(self, tool: str, arguments: Json) -> Mapping[str, Any]:
        """Call a tool; cancelling asks the server to stop.

        Raises:
            ServerFailed: If there is no result, for example none in time.
        """

    async def close(self) -> None:
        """Close the connection and end the server's processes; twice is fine."""


class Connector(Protocol):
    """Connects servers."""

    async def connect(self, entry: ServerEntry) -> ToolServerConnection:
        """Start or reach a server, and initialize the connection.

        Raises:
            ServerFailed: If that fails, or is not finished in time; nothing is left running.
        """
