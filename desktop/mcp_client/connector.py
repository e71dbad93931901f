"""Connection of servers; the library of MCP is loaded with the first server.

Its import takes over half a second and 65 MB, so a service whose agent uses no `.mcp.json` never
loads it.
"""

import asyncio
import importlib
from collections.abc import Callable
from typing import Any

from .errors import ServerFailed
from .ports import ToolServerConnection
from .server_entry import ServerEntry
from .server_program import EndGrace, ServerPrograms

SESSION = "deskhand.desktop.mcp_client.session"


class McpConnector:
    """Implements `Connector`."""

    def __init__(
        self,
        programs: ServerPrograms,
        version: str,
        grace: EndGrace | None = None,
        load: Callable[[str], Any] = importlib.import_module,
    ) -> None:
        self._programs = programs
        self._version = version
        self._grace = grace or EndGrace()
        self._load = load
        self._loading = asyncio.Lock()
        self._session: Any = None

    async def connect(self, entry: ServerEntry) -> ToolServerConnection:
        """Start or reach a server; see `Connector`."""
        async with self._loading:
            if self._session is None:
                try:
                    self._session = await asyncio.to_thread(self._load, SESSION)
                except (ImportError, OSError) as error:
                    reason = f"the library of MCP cannot be loaded: {error}"
                    raise ServerFailed(reason) from error
        if entry.transport != "stdio":
            # The service may reach more of the network than the agent: a connection of its own
            # would get around the egress of the desktop.
            raise ServerFailed(f"servers of type {entry.transport} are not served, only stdio")
        program = await self._programs.start(entry)
        connection: ToolServerConnection = await self._session.connect_program(
            program, self._grace, self._version
        )
        return connection
