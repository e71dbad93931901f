"""MCP servers of the official SDK over HTTP and SSE, and connections to them without a helper."""

import asyncio
import logging
import os
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context

from deskhand.desktop.mcp_client.server_entry import ServerEntry, Transport

Json = dict[str, Any]
PATIENCE = 20.0
SIZE = "content-length:"


async def connect(host: str, port: int) -> socket.socket:
    """Connect as the test itself."""
    connection = socket.socket()
    connection.setblocking(False)
    try:
        await asyncio.get_running_loop().sock_connect(connection, (host, port))
    except OSError:
        connection.close()
        raise
    return connection


@dataclass
class RemoteServer:
    """A server that runs."""

    transport: Transport
    port: int
    requests: list[Mapping[str, str]] = field(default_factory=list)
    """Method, path and headers of the requests."""

    @property
    def entry(self) -> ServerEntry:
        """Its definition."""
        path = "mcp" if self.transport == "http" else "sse"
        headers = (("X-Key", "${KEY}"),)
        url = f"http://127.0.0.1:{self.port}/{path}"
        return ServerEntry("web", self.transport, url=url, headers=headers)

    def methods(self) -> list[str]:
        """Methods of the requests so far."""
        return [one[":method"] for one in self.requests]


def made() -> MCPServer:
    """A server with one tool, and with one that adds another."""
    server = MCPServer("notes")

    @server.tool()
    def echo(text: str) -> str:
        return text

    @server.tool()
    async def add_tool(context: Context) -> str:
        server.add_tool(lambda: "new", name="added")
        await context.session.send_tool_list_changed()
        return "added"

    return server


@asynccontextmanager
async def serving(transport: Transport, port: int = 0) -> AsyncIterator[RemoteServer]:
    """Run a server in this event loop."""
    server = made()
    app: Any = server.streamable_http_app() if transport == "http" else server.sse_app()
    listener = socket.create_server(("127.0.0.1", port))
    found = RemoteServer(transport, listener.getsockname()[1])

    async def recorded(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            headers = {name.decode(): value.decode() for name, value in scope["headers"]}
            found.requests.append({":method": scope["method"], ":path": scope["path"], **headers})
        with suppress(asyncio.CancelledError):
            await app(scope, receive, send)

    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    config = uvicorn.Config(recorded, log_level="critical", timeout_graceful_shutdown=0)
    runner = uvicorn.Server(config)
    task = asyncio.create_task(runner.serve([listener]))
    try:
        yield found
    finally:
        runner.should_exit = True
        await asyncio.wait({task})
        listener.close()


Answers = Callable[[str, str], Awaitable[bytes | None]]
"""Returns the answer to a request, given its first line and its body; None: none ever."""


@asynccontextmanager
async def answering(answers: Answers, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Serve prepared answers, one for each connection; yield the port."""
    tasks: set[asyncio.Task[Any] | None] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.current_task())
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            size = next(
                (one[15:] for one in head.lower().split("\r\n") if one.startswith(SIZE)), "0"
            )
            body = await reader.readexactly(int(size))
            answer = await answers(head.partition("\r\n")[0], body.decode())
            if answer is None:
                await reader.read()
            else:
                writer.write(answer)
                await writer.drain()
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    async with server:
        yield server.sockets[0].getsockname()[1]
    await asyncio.gather(*filter(None, tasks), return_exceptions=True)


def http(status: str, body: str = "", *headers: str) -> bytes:
    """Return an answer."""
    lines = (f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers)
    return "\r\n".join((*lines, "", body)).encode()


def connections_to(port: int) -> int:
    """Number of this process's open connections to a port."""
    found = 0
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 -- numbers
        with suppress(OSError):
            duplicate = os.dup(int(name))
            try:
                one = socket.socket(fileno=duplicate)
            except OSError:
                os.close(duplicate)
                continue
            with one:
                if one.family == socket.AF_INET and one.getpeername()[1] == port:
                    found += 1
    return found
