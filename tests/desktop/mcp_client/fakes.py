"""Configuration files in memory, and servers without processes."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from deskhand.desktop.mcp_client.errors import ServerFailed
from deskhand.desktop.mcp_client.ports import ConfigFile
from deskhand.desktop.mcp_client.server_entry import ServerEntry

Json = dict[str, Any]


class MemoryFiles:
    """Implements ``ConfigFiles``: one file, which each `write` changes."""

    def __init__(self, servers: Json | None = None) -> None:
        self.file = ConfigFile("/data/.mcp.json", None)
        self.reads = 0
        self.changed: asyncio.Queue[str] | None = None
        """Changes that are observed; None if the file is not watched."""
        if servers is not None:
            self.write(servers)

    def write(self, servers: Json) -> None:
        """Replace the servers."""
        content = json.dumps({"mcpServers": servers}).encode()
        changed = (self.file.stamp or (0, 0))[0] + 1
        self.file = ConfigFile(self.file.path, (changed, len(content)), content=content)

    async def stamps(self) -> Sequence[ConfigFile]:
        return [replace(self.file, content=None)]

    async def changes(self) -> AsyncGenerator[None, None]:
        while self.changed is not None:
            await self.changed.get()
            yield
            self.changed.task_done()

    async def read(self) -> Sequence[ConfigFile]:
        self.reads += 1
        return [self.file]


class FakeServer:
    """Implements ``ToolServerConnection``."""

    def __init__(self, entry: ServerEntry) -> None:
        self.entry = entry
        self.ended = ""
        self.closed = False
        self.tools_changed = False
        self.tools = ["echo"]
        self.failure = ""
        self.calls: list[tuple[str, Json]] = []
        self.called = asyncio.Event()
        self.cancelled = False

    async def list_tools(self) -> Sequence[Mapping[str, Any]]:
        self.tools_changed = False
        if self.failure:
            raise ServerFailed(self.failure)
        return [{"name": name} for name in self.tools]

    async def call(self, tool: str, arguments: Json) -> Mapping[str, Any]:
        self.calls.append((tool, arguments))
        if tool == "break":
            raise ServerFailed("broken")
        if tool == "wait":
            self.called.set()
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                self.cancelled = True
        return {"content": [{"type": "text", "text": self.entry.command}]}

    async def close(self) -> None:
        self.closed = True


class FakeConnector:
    """Implements ``Connector``; commands in `failing` fail, and ``wait`` waits for `release`."""

    def __init__(self) -> None:
        self.opened: list[FakeServer] = []
        self.failing: set[str] = set()
        self.list_fails = False
        self.waiting = 0
        self.all_wait = asyncio.Event()
        self.release = asyncio.Event()

    async def connect(self, entry: ServerEntry) -> FakeServer:
        if entry.command == "wait":
            self.waiting += 1
            if self.waiting == 2:
                self.all_wait.set()
            await self.release.wait()
        if entry.command in self.failing:
            raise ServerFailed(f"{entry.command} failed")
        server = FakeServer(entry)
        if self.list_fails:
            server.failure = "no list"
        self.opened.append(server)
        return server

    def commands(self) -> list[str]:
        """Commands of the servers that were opened, in order."""
        return [server.entry.command for server in self.opened]
