"""Adapter of the MCP SDK's client: the only module of this folder that imports it.

A session belongs to one task, as the SDK's task groups must be left by the task that entered them.
Calls come from other tasks. The 30 s limit is for ``initialize`` only: the server lives on.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any, Final

import anyio
import mcp_types as types
from mcp.client.session import ClientSession, IncomingMessage
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage

from .errors import ServerFailed
from .server_program import EndGrace, ServerProgram

logger = logging.getLogger(__name__)

Json = dict[str, Any]
Streams = tuple[Any, Any]

INITIALIZE_SECONDS: Final = 30.0
LIST_SECONDS: Final = 30.0
CALL_SECONDS: Final = 60.0
EXIT_SECONDS = 1.0
"""Time between the end of a server's output and its exit."""
MOST_TOOLS = 500
MOST_PAGES = 50


class SdkConnection:
    """Implements `ToolServerConnection` over an SDK session."""

    def __init__(
        self,
        transport: Callable[[], AbstractAsyncContextManager[Streams]],
        version: str,
        ending: Callable[[], str] = str,
        initialize_seconds: float = INITIALIZE_SECONDS,
    ) -> None:
        """``ending`` returns why the transport has ended by itself, or an empty text."""
        self._transport = transport
        self._client = types.Implementation(name="deskhand", version=version)
        self._ending = ending
        self._initialize_seconds = initialize_seconds
        self._closing = asyncio.Event()
        self._failure = ""
        self._changed = False
        self._session: asyncio.Future[ClientSession] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._run())

    @property
    def ended(self) -> str:
        """Return why the connection has ended by itself."""
        return self._ending() or self._failure

    @property
    def tools_changed(self) -> bool:
        """Return whether the server has reported a change of its tools since the last list."""
        return self._changed

    async def opened(self) -> None:
        """Wait until the connection is initialized.

        Raises:
            ServerFailed: If that failed; all is closed.
        """
        try:
            await asyncio.shield(self._session)
        except asyncio.CancelledError:
            await self.close()
            raise
        except ServerFailed:
            await self.close()
            raise

    async def list_tools(self) -> Sequence[Mapping[str, Any]]:
        """Return the tools of all pages."""
        tools: list[Json] = []
        cursor: str | None = None
        # Before the request: a change while it is answered is reported again.
        self._changed = False
        async with _answered(self, LIST_SECONDS, "tools/list"):
            session = await self._session
            for _ in range(MOST_PAGES):
                page = await session.send_request(
                    types.ListToolsRequest(params=types.PaginatedRequestParams(cursor=cursor)),
                    types.ListToolsResult,
                )
                tools += (_json(tool) for tool in page.tools)
                cursor = page.next_cursor
                if cursor is None or len(tools) >= MOST_TOOLS:
                    break
        return tools[:MOST_TOOLS]

    async def call(self, tool: str, arguments: Json) -> Mapping[str, Any]:
        """Call a tool."""
        async with _answered(self, CALL_SECONDS, "tools/call"):
            session = await self._session
            params = types.CallToolRequestParams(name=tool, arguments=arguments)
            # Not `call_tool` of the session: it judges the result by a schema of the server.
            return _json(
                await session.send_request(
                    types.CallToolRequest(params=params), types.CallToolResult
                )
            )

    def end(self) -> None:
        """Close the connection soon, as its transport cannot carry on; twice is fine."""
        if not (self._session.done() or self._closing.is_set()):
            # It is being opened, in code of the transport that waits for no event of ours.
            self._task.cancel()
        self._closing.set()

    async def close(self) -> None:
        """Leave the session and its transport, which ends the server's processes."""
        self.end()
        await asyncio.wait({self._task})

    async def _run(self) -> None:
        limit = asyncio.timeout(self._initialize_seconds)
        try:
            async with limit, self._transport() as streams, self._client_session(streams) as one:
                await _agreed(one)
                limit.reschedule(None)
                self._session.set_result(one)
                await self._closing.wait()
        except (Exception, BaseExceptionGroup) as error:  # noqa: BLE001 - of many libraries
            if limit.expired():
                self._failure = f"initialize was not answered in {self._initialize_seconds:g} s"
            self._fail(error)
        finally:
            if not self._session.done():
                reason = self._failure or self._ending() or "it was closed"
                self._session.set_exception(ServerFailed(reason))
                # There may be no call that waits for it any more.
                self._session.exception()

    def _client_session(self, streams: Streams) -> ClientSession:
        return ClientSession(*streams, client_info=self._client, message_handler=self._notified)

    async def _notified(self, message: IncomingMessage) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self._changed = True

    def _fail(self, error: BaseException) -> None:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        self._failure = self._failure or self._ending() or _reason(error)
        logger.info("the connection to an MCP server has ended: %s", self._failure)


async def _agreed(session: ClientSession) -> None:
    """Agree on a version: by the handshake, or without one with a server of 2026-07-28 alone."""
    try:
        await session.initialize()
    except MCPError as refused:
        try:
            await session.discover()
        except (MCPError, RuntimeError, ValueError):
            raise refused from None


async def connect_program(
    program: ServerProgram,
    grace: EndGrace,
    version: str,
    initialize_seconds: float = INITIALIZE_SECONDS,
) -> SdkConnection:
    """Initialize a connection to a program that was started; on failure the program is ended.

    Raises:
        ServerFailed: If that fails.
    """
    connection = SdkConnection(
        lambda: _program_streams(program, grace),
        *(version, lambda: program.ending, initialize_seconds),
    )
    await connection.opened()
    return connection


@asynccontextmanager
async def _program_streams(program: ServerProgram, grace: EndGrace) -> AsyncIterator[Streams]:
    """Carry messages as lines over the pipes of a program, which is ended at the end."""
    arriving, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, leaving = anyio.create_memory_object_stream[SessionMessage](0)

    async def receive() -> None:
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, ServerFailed):
            async with arriving:
                while line := await program.line():
                    await arriving.send(_message(line))
                # So that the calls that fail now can report how it ended.
                await program.wait_exit(EXIT_SECONDS)

    async def send() -> None:
        with suppress(anyio.ClosedResourceError, OSError):
            async with leaving, arriving:
                async for message in leaving:
                    await program.write(_line(message))

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(receive)
            tasks.start_soon(send)
            yield read, write
            tasks.cancel_scope.cancel()
    finally:
        # First: the end of the program is awaited, and that may be cancelled.
        for stream in (arriving, read, write, leaving):
            stream.close()
        with anyio.CancelScope(shield=True):
            await program.close(grace)


def _message(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        # The session reports it; servers that print other text go on.
        return error


def _line(message: SessionMessage) -> bytes:
    text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
    return f"{text}\n".encode()


def _json(value: Any) -> Json:
    dumped: Json = value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return dumped


@asynccontextmanager
async def _answered(connection: SdkConnection, seconds: float, what: str) -> AsyncIterator[None]:
    """Translate the failures of a request, which has so many seconds."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise ServerFailed(f"{what} was not answered in {seconds:g} s") from error
    except ServerFailed:
        raise
    except Exception as error:
        raise ServerFailed(connection.ended or _reason(error)) from error


def _reason(error: BaseException) -> str:
    if isinstance(error, ServerFailed):
        return str(error)
    if isinstance(error, MCPError):
        return str(error) or "the server answered with an error"
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
