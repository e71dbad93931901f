"""Connection of servers; the library of MCP is loaded with the first server.

Its import takes over half a second and 65 MB, so a service whose agent uses no `.mcp.json` never
loads it.
"""

import asyncio
import importlib
from collections.abc import Callable
from typing import Any

from .errors import ServerFailed
from .ports import Connect, ToolServerConnection
from .server_entry import ServerEntry
from .server_program import EndGrace, ServerPrograms

SESSION = "deskhand.desktop.mcp_client.session"
REMOTE = "deskhand.desktop.mcp_client.remote.remote"


class McpConnector:
    """Implements `Connector`."""

    def __init__(
        self,
        programs: ServerPrograms,
        connect: Connect,
        version: str,
        grace: EndGrace | None = None,
        load: Callable[[str], Any] = importlib.import_module,
    ) -> None:
        """``connect`` opens connections of the agent."""
        self._programs = programs
        self._connect = connect
        self._version = version
        self._grace = grace or EndGrace()
        self._load = load
        self._loading = asyncio.Lock()
        self._loaded: dict[str, Any] = {}

    async def connect(self, entry: ServerEntry) -> ToolServerConnection:
        """Start or reach a server; see `Connector`."""
        connection: ToolServerConnection
        if entry.transport == "stdio":
            session = await self._module(SESSION)
            program = await self._programs.start(entry)
            connection = await session.connect_program(program, self._grace, self._version)
            return connection
        remote = await self._module(REMOTE)
        connection = await remote.connect_remote(
            entry, self._connect, self._programs.environment(), self._version
        )
        return connection

    async def _module(self, name: str) -> Any:
        async with self._loading:
            if name not in self._loaded:
                try:
                    self._loaded[name] = await asyncio.to_thread(self._load, name)
                except (ImportError, OSError) as error:
                    reason = f"the library of MCP cannot be loaded: {error}"
                    raise ServerFailed(reason) from error
        return self._loaded[name]
