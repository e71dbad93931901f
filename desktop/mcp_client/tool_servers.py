"""The servers of one desktop's ``.mcp.json``: connected, reloaded, called.

- The files are checked at each request. Their first reading is awaited. From then on they are also
  watched, so that a server that was removed ends without a request. After a change they are read
  again when they have rested for `DEBOUNCE` seconds, and only what changed is connected.
- There is one reload at a time; a request that finds one running waits for it.
- All servers connect in parallel. One that fails is left out and reported with its error. When a
  changed definition cannot be connected, the connection of the old one stays.
- An entry is used after a person has approved exactly its definition (`ServerEntry.digest`), or if
  all are trusted.
- A server that reports a change of its tools (``tools/list_changed``) is asked for them by the next
  request for the list. Chats see the change there: their own tools are fixed when they begin.
- A connection that is replaced is closed after the new one is open, which ends its processes.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, NamedTuple, Self

from .changes import changes
from .config_file import BadEntry, McpConfig, parse_files
from .errors import ManagerClosed, McpClientError, ServerFailed, UnknownServer
from .ports import ConfigFile, ConfigFiles, Connector, ToolServerConnection
from .results import result_json, tool_json
from .server_entry import ServerEntry
from .tool_names import split_name

logger = logging.getLogger(__name__)

Json = dict[str, Any]

DEBOUNCE = 0.25
MOST_PAUSES = 20
"""Pauses after which files are read although they still change."""
NOT_APPROVED = "a person must approve this server first"
STOPPED = (
    "the call was cancelled, as a person has taken control in private; it may have had effects"
)


@dataclass(frozen=True)
class ToolServer:
    """One approved server."""

    entry: ServerEntry
    """The definition that was tried last."""
    connection: ToolServerConnection | None = None
    """None if none could be opened; that of an earlier definition if only it could."""
    tools: tuple[Json, ...] = ()
    error: str = ""
    """Why the last try failed."""

    @property
    def problem(self) -> str:
        """Return what is wrong; empty if all works."""
        return self.error or ("" if self.connection is None else self.connection.ended)


class _Reload(NamedTuple):
    """A reload that runs."""

    task: asyncio.Task[None]
    refreshes: bool


class ToolServers:
    """Belongs to one event loop; use as ``async with``."""

    def __init__(
        self,
        files: ConfigFiles,
        connector: Connector,
        *,
        trust: bool = False,
        may_start: Callable[[], bool] = lambda: True,
        stopped: Callable[[], Awaitable[None]] | None = None,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """With ``trust`` entries need no approval.

        ``may_start`` returns whether programs of the agent may be started now; requests ask it
        themselves. ``stopped`` waits until programs of the agent are stopped: servers elsewhere
        go on, so their calls are cancelled.
        """
        self._files = files
        self._connector = connector
        self._trust = trust
        self._may_start = may_start
        self._stopped = stopped or _never
        self._pause = pause
        self._approved: set[str] = set()
        self._stamps: tuple[ConfigFile, ...] | None = None
        self._config = McpConfig()
        self._servers: dict[str, ToolServer] = {}
        self._reloading: _Reload | None = None
        self._reopening: dict[str, asyncio.Task[None]] = {}
        self._watching: asyncio.Task[None] | None = None
        self._closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def catalog(self, *, refresh: bool = False) -> Json:
        """Return the tools of all servers, and the state of each.

        ``refresh`` reads the files again, connects failed servers again, and lists all tools.

        Raises:
            ManagerClosed: If the service ends.
        """
        await self._current(refresh=refresh, lists=True)
        servers = sorted(self._servers.values(), key=lambda server: server.entry.name)
        return {
            "tools": [tool for server in servers for tool in server.tools],
            "servers": [*self._states(), *map(_bad_state, self._config.bad)],
        }

    async def call(self, name: str, arguments: Json) -> Json:
        """Call the tool ``server__tool``; a server that has ended is started again for it.

        Raises:
            McpClientError: If there is no result.
        """
        server, tool = split_name(name)
        await self._current()
        found = self._servers.get(server)
        if found is None:
            waits = any(entry.name == server for entry in self._config.entries)
            if waits:
                raise ServerFailed(f"{server}: {NOT_APPROVED}")
            raise UnknownServer(f"no MCP server is named {server!r}")
        if found.connection is not None and found.connection.ended:
            await self._reopen(server)
            found = self._servers.get(server, found)
        if found.connection is None or found.connection.ended:
            raise ServerFailed(f"{server}: {found.problem}")
        making = found.connection.call(tool, arguments)
        try:
            # A program is stopped itself, with the commands.
            local = found.entry.transport == "stdio"
            return result_json(await (making if local else self._unless_stopped(making)))
        except McpClientError as error:
            raise ServerFailed(f"{server}: {error}") from error

    async def _unless_stopped(
        self, making: Coroutine[Any, Any, Mapping[str, Any]]
    ) -> Mapping[str, Any]:
        """Return the result of a call, which is cancelled when programs are stopped."""
        call = asyncio.create_task(making)
        stop = asyncio.ensure_future(self._stopped())
        try:
            await asyncio.wait({call, stop}, return_when=asyncio.FIRST_COMPLETED)
            if stop.done():
                raise ServerFailed(STOPPED)
            return call.result()
        finally:
            call.cancel()
            stop.cancel()
            await asyncio.gather(call, stop, return_exceptions=True)

    def approve(self, digests: Collection[str]) -> int:
        """Approve definitions; the next request connects them. Returns how many are approved."""
        new = set(digests) - self._approved
        self._approved |= new
        if new:
            self._stamps = None
        return len(self._approved)

    async def close(self) -> None:
        """Close all connections, which ends the servers' processes; twice is fine."""
        self._closed = True
        working = [*self._reopening.values()]
        if self._watching is not None:
            working.append(self._watching)
        if self._reloading is not None:
            working.append(self._reloading.task)
        for task in working:
            task.cancel()
        await asyncio.gather(*working, return_exceptions=True)
        servers, self._servers = self._servers, {}
        await asyncio.gather(*(_close(server.connection) for server in servers.values()))

    async def _current(self, *, refresh: bool = False, lists: bool = False) -> None:
        """Wait until the servers are those of the files; with ``lists`` their tools too."""
        if self._reloading is not None:
            # It may have read the files before they were changed.
            await asyncio.wait({self._reloading.task})
        stale = refresh or self._closed or (lists and bool(self._changed()))
        if not stale and self._stamps == tuple(await self._files.stamps()):
            return
        while not self._closed:
            reload = self._reloading or self._begin(refresh=refresh)
            await asyncio.wait({reload.task})
            if self._closed:
                break
            if not reload.task.cancelled() and (error := reload.task.exception()) is not None:
                raise ServerFailed("the servers could not be reloaded") from error
            if reload.refreshes or not refresh:
                return
        raise ManagerClosed

    def _begin(self, *, refresh: bool) -> "_Reload":
        task = asyncio.create_task(self._reload(refresh=refresh))
        reload = self._reloading = _Reload(task, refresh)
        task.add_done_callback(self._reloaded)
        return reload

    def _reloaded(self, task: asyncio.Task[None]) -> None:
        self._reloading = None
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("the MCP servers could not be reloaded", exc_info=error)
        if not self._closed and (self._watching is None or self._watching.done()):
            self._watching = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        """Reload after changes of the files; when they cannot be observed, requests do it."""
        async with aclosing(self._files.changes()) as changes:
            async for _ in changes:
                if self._may_start():
                    with suppress(McpClientError):
                        await self._current()

    async def _reload(self, *, refresh: bool) -> None:
        if self._stamps is not None and not (
            # Only tools have changed.
            self._changed() and self._stamps == tuple(await self._files.stamps())
        ):
            await self._rested()
        files = await self._files.read()
        self._stamps = tuple(replace(file, content=None) for file in files)
        config = parse_files(
            (file.path, file.content) for file in files if file.content is not None
        )
        problems = (BadEntry(file.path, file.problem) for file in files if file.problem)
        self._config = replace(config, bad=(*config.bad, *problems))
        wanted = [entry for entry in config.entries if self._may_run(entry)]
        again = {name for name, one in self._servers.items() if refresh and one.problem}
        known = {name: server.entry for name, server in self._servers.items()}
        todo = changes(known, wanted, again)
        gone = [self._servers.pop(name).connection for name in todo.close]
        kept = set(self._servers) if refresh else self._changed()
        kept -= {entry.name for entry in todo.connect}
        await asyncio.gather(
            *(_close(connection) for connection in gone),
            *(self._connect(entry) for entry in todo.connect),
            *(self._list_again(name) for name in kept),
        )

    async def _rested(self) -> None:
        """Wait until the files have not changed for a while: they may be half written."""
        before = tuple(await self._files.stamps())
        for _ in range(MOST_PAUSES):
            await self._pause(DEBOUNCE)
            now = tuple(await self._files.stamps())
            if now == before:
                return
            before = now

    def _changed(self) -> set[str]:
        """Return the names of the servers that have reported a change of their tools."""
        return {
            name
            for name, one in self._servers.items()
            if one.connection is not None and one.connection.tools_changed
        }

    def _may_run(self, entry: ServerEntry) -> bool:
        return self._trust or entry.digest in self._approved

    async def _connect(self, entry: ServerEntry) -> None:
        """Connect a server in the place of its earlier connection, which stays on failure."""
        old = self._servers.get(entry.name, ToolServer(entry))
        try:
            connection = await self._connector.connect(entry)
        except McpClientError as error:
            logger.warning("the MCP server %s is not connected: %s", entry.name, error)
            self._servers[entry.name] = replace(old, entry=entry, error=str(error))
            return
        try:
            tools = await _tools(entry, connection)
        except asyncio.CancelledError:
            await _close(connection)
            raise
        except McpClientError as error:
            logger.warning("the MCP server %s lists no tools: %s", entry.name, error)
            self._servers[entry.name] = replace(old, entry=entry, error=str(error))
            await _close(connection)
            return
        self._servers[entry.name] = ToolServer(entry, connection, tools)
        await _close(old.connection)

    async def _list_again(self, name: str) -> None:
        server = self._servers[name]
        if server.connection is not None:
            try:
                tools = await _tools(server.entry, server.connection)
            except McpClientError as error:
                self._servers[name] = replace(server, error=str(error))
            else:
                self._servers[name] = replace(server, tools=tools)

    async def _reopen(self, name: str) -> None:
        """Connect a server again that has ended; calls at the same time wait for one attempt."""
        task = self._reopening.get(name)
        if task is None:
            task = asyncio.create_task(self._connect(self._servers[name].entry))
            self._reopening[name] = task
            task.add_done_callback(lambda _: self._reopening.pop(name, None))
        await asyncio.wait({task})

    def _states(self) -> Sequence[Json]:
        states = []
        for entry in self._config.entries:
            server = self._servers.get(entry.name)
            if server is None:
                state, error = "needs_approval", NOT_APPROVED
            else:
                error = server.problem
                state = "failed" if error else "connected"
            facts = {"transport": entry.transport, "summary": entry.summary}
            states.append(_state(entry.name, state, error, entry.digest, facts))
        return states


async def _never() -> None:
    await asyncio.get_running_loop().create_future()


async def _tools(entry: ServerEntry, connection: ToolServerConnection) -> tuple[Json, ...]:
    listed = await connection.list_tools()
    return tuple(tool_json(entry.name, tool) for tool in listed)


async def _close(connection: ToolServerConnection | None) -> None:
    if connection is not None:
        await connection.close()


def _bad_state(bad: BadEntry) -> Json:
    return _state(bad.name, "invalid", bad.reason, "", {"transport": "", "summary": ""})


def _state(name: str, state: str, error: str, digest: str, facts: Json) -> Json:
    return {"name": name, "state": state, "error": error, "digest": digest, **facts}
