"""The local port or socket of a forward, which only programs of the same user may use."""

import asyncio
import contextlib
import errno
import os
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from .errors import PortInUse
from .peer_uid import SocketAddress, peer_uid
from .request_head import LONGEST_HEAD

HOST = "127.0.0.1"
TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
BACKLOG = 128
"""Connections that the kernel keeps until they are accepted."""
NEXT_PORTS = 100
"""Ports that are tried when the default one is in use."""

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def bound_port(port: int | None, default: int) -> socket.socket:
    """Return a socket bound to a port, or by default to the first free one from ``default`` on.

    Raises:
        PortInUse: If it is not free.
    """
    for candidate in (port,) if port is not None else range(default, default + NEXT_PORTS):
        bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        # A port whose last connections have just ended can be bound again.
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((HOST, candidate))
            bound.listen(BACKLOG)
        except OSError as error:
            bound.close()
            if error.errno != errno.EADDRINUSE:
                raise
            continue
        return bound
    raise PortInUse(default if port is None else port)


@asynccontextmanager
async def listening(bound: socket.socket, serve: Serve) -> AsyncIterator[None]:
    """Serve each connection of this user while the block runs; then close all of them."""
    connections: set[asyncio.Task[Any]] = set()

    async def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = cast(asyncio.Task[Any], asyncio.current_task())
        connections.add(task)
        try:
            if await _is_own(writer):
                await serve(reader, writer)
        # The peer may end its connection at any time.
        except OSError as error:
            print(f"deskhand: a connection broke: {error}", file=sys.stderr)  # noqa: T201
        finally:
            connections.discard(task)
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    path = Path(bound.getsockname()) if bound.family == socket.AF_UNIX else None
    server = await asyncio.start_server(accepted, sock=bound, limit=LONGEST_HEAD)
    try:
        yield
    finally:
        server.close()
        for task in tuple(connections):
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)
        if path is not None:
            await asyncio.to_thread(path.unlink, missing_ok=True)


async def _is_own(writer: asyncio.StreamWriter) -> bool:
    """Return whether a process of this user is at the other end."""
    connection = writer.get_extra_info("socket")
    if connection.family == socket.AF_UNIX:
        # The file's mode has decided.
        return True
    own, peer = connection.getsockname(), connection.getpeername()
    tables = await asyncio.to_thread(lambda: "".join(table.read_text() for table in TABLES))
    return peer_uid(tables, SocketAddress(*own[:2]), SocketAddress(*peer[:2])) == os.geteuid()
