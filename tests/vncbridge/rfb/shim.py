"""A plain socket in front of a WebSocket, for RFB clients that know no other."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed


@asynccontextmanager
async def shim(address: str) -> AsyncIterator[int]:
    """Serve on a port of loopback what the WebSocket at that address says; yield the port."""
    running: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        running.add(task)
        # asyncio's streams complain of a handler that was cancelled.
        with suppress(asyncio.CancelledError, ConnectionClosed, ConnectionError):
            async with connect(address, compression=None, max_size=None) as socket:
                answering = asyncio.create_task(_answers(socket, writer))
                while words := await reader.read(65536):
                    await socket.send(words)
                answering.cancel()
        running.discard(task)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in tuple(running):
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def _answers(socket: ClientConnection, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionClosed, ConnectionError):
        async for message in socket:
            assert isinstance(message, bytes)
            writer.write(message)
            await writer.drain()
    writer.close()
