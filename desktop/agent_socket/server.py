"""Server of the agent's socket.

Each connection carries one request. It is *reading* until the request's line is complete, for
`REQUEST_SECONDS` at most; then *answering*; and, if the answer started a program, *waiting* until
the program has ended. A client that closes the connection while it waits ends the program, as a
shell ends the command that it runs. `MOST_CONNECTIONS` may be open; more are refused at once,
except those of the panel: commands must not keep a person from launching a program.
"""

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

from deskhand.desktop.errors import DesktopError

from .ancestry import CommandRoot, RequestOrigin, origin_of
from .errors import RefusedRequest
from .messages import AgentRequest, Json, RequestReader, error_answer, line_of, request_in
from .peer import Peer, peer_of

logger = logging.getLogger(__name__)

MOST_CONNECTIONS = 64
REQUEST_SECONDS = 10.0
_READ_SIZE = 16_384


@dataclass(frozen=True)
class LaunchedProgram:
    """A program that a request has started."""

    exit_code: Callable[[], Awaitable[int]]
    """Waits for its end."""
    end: Callable[[], Awaitable[None]]
    """Ends it; does nothing if it has ended."""


@dataclass(frozen=True)
class AgentAnswer:
    """The answer to a request, and the program that it started, if any."""

    body: Json
    program: LaunchedProgram | None = None


class AgentServices(Protocol):
    """The part of a desktop that the agent's socket serves."""

    async def starts_settled(self) -> None:
        """Return when the commands that start at this moment are among the running ones."""

    def commands(self) -> Sequence[CommandRoot]:
        """Return the running commands."""

    def launchers(self) -> Collection[int]:
        """Return the pids of the panel and the window manager."""

    async def answer(self, request: AgentRequest, origin: RequestOrigin) -> AgentAnswer:
        """Do what is requested.

        Raises:
            DesktopError: If it is refused or fails.
        """


class AgentSocketServer:
    """Serves one listening socket; use as ``async with`` on the event loop that it belongs to."""

    def __init__(
        self,
        bound: socket.socket,
        services: AgentServices,
        *,
        request_seconds: float = REQUEST_SECONDS,
        browser_user: int | None = None,
    ) -> None:
        """``browser_user`` is the id of the browser's user, if it has one of its own."""
        self._bound = bound
        self._services = services
        self._request_seconds = request_seconds
        self._browser_user = browser_user
        self._connections: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        """Accept connections from now on."""
        self._server = await asyncio.start_unix_server(self._accepted, sock=self._bound.dup())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close all connections."""
        if self._server is not None:
            self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._connections) >= MOST_CONNECTIONS and not self._is_panel(writer):
            writer.write(line_of(error_answer("busy", "Too many requests are open.")))
            writer.close()
            return
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    def _is_panel(self, writer: asyncio.StreamWriter) -> bool:
        try:
            peer = peer_of(writer.get_extra_info("socket"))
        except OSError:
            return False
        origin = origin_of(peer.ancestry(), (), self._services.launchers())
        peer.close()
        return origin.panel

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            answered = await self._answered(reader, writer.get_extra_info("socket"))
            writer.write(line_of(answered.body))
            await writer.drain()
            if answered.program is not None:
                await _wait(answered.program, reader, writer)
        except ConnectionError:
            # The client has gone.
            pass
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _origin(self, peer: Peer) -> RequestOrigin:
        if peer.uid == self._browser_user:
            return RequestOrigin(browser=True)
        # A command may ask before its start is known here.
        await self._services.starts_settled()
        commands, launchers = self._services.commands(), self._services.launchers()
        ancestry = await asyncio.to_thread(peer.ancestry)
        return origin_of(ancestry, commands, launchers)

    async def _answered(
        self, reader: asyncio.StreamReader, connection: socket.socket
    ) -> AgentAnswer:
        try:
            # Now, because a peer that ends meanwhile may have its pid reused.
            peer = peer_of(connection)
        except OSError:
            return AgentAnswer(error_answer("gone", "The process that asked has ended."))
        try:
            async with asyncio.timeout(self._request_seconds):
                request = await _request(reader)
            return await self._services.answer(request, await self._origin(peer))
        except TimeoutError:
            return AgentAnswer(error_answer("timeout", "The request did not come in time."))
        except RefusedRequest as error:
            return AgentAnswer(error_answer(error.code, error.message))
        except DesktopError as error:
            return AgentAnswer(error_answer(getattr(error, "code", "") or "failed", str(error)))
        finally:
            peer.close()


async def _wait(
    program: LaunchedProgram, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    ended = asyncio.ensure_future(program.exit_code())
    gone = asyncio.ensure_future(_hung_up(reader))
    try:
        await asyncio.wait((ended, gone), return_when=asyncio.FIRST_COMPLETED)
        if ended.done():
            writer.write(line_of({"exit_code": ended.result()}))
            await writer.drain()
        else:
            await program.end()
    finally:
        for task in (ended, gone):
            task.cancel()
        await asyncio.gather(ended, gone, return_exceptions=True)


async def _request(reader: asyncio.StreamReader) -> AgentRequest:
    line = RequestReader()
    while True:
        data = await reader.read(_READ_SIZE)
        if not data:
            raise RefusedRequest("malformed", "The request has no end of line.")
        found = line.feed(data)
        if found is not None:
            return request_in(found)


async def _hung_up(reader: asyncio.StreamReader) -> None:
    with suppress(ConnectionError):
        while await reader.read(_READ_SIZE):
            pass
