"""Pass a WebSocket on: between a browser and a service behind us."""

import asyncio
from collections.abc import Coroutine
from typing import NoReturn

from starlette.websockets import WebSocket
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from .client_stream import (
    ABNORMAL,
    BROKEN,
    NO_STATUS,
    NORMAL,
    STUCK_SECONDS,
    ClientStream,
    CloseReason,
    StreamEnded,
)

GOODBYE_SECONDS = 1.0
"""How long the service may take to answer our close."""


async def until_one_ends(*pumps: Coroutine[None, None, NoReturn]) -> CloseReason:
    """Run pumps until one raises `StreamEnded`, end the others, return its farewell."""
    tasks = [asyncio.create_task(tunnel) for tunnel in pumps]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        await next(iter(done))
    except StreamEnded as end:
        return end.farewell
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def tunnel(
    browser: WebSocket, service: ClientConnection, stuck_seconds: float = STUCK_SECONDS
) -> None:
    """Pass messages both ways until either side closes, then close the other alike.

    ``browser`` has been accepted. Each direction reads again only when its last message was
    taken, so memory stays bounded whichever side is slow.
    """
    outlet = ClientStream(browser, stuck_seconds)

    async def to_browser() -> NoReturn:
        while True:
            await outlet.send(await _receive(service))

    async def to_service() -> NoReturn:
        while True:
            message = await outlet.receive()
            try:
                await service.send(message)
            except ConnectionClosed:
                raise StreamEnded(_farewell_of(service)) from None

    farewell = _sendable(await until_one_ends(to_browser(), to_service()))
    await outlet.close(farewell)
    try:
        async with asyncio.timeout(GOODBYE_SECONDS):
            await service.close(*farewell)
    except TimeoutError:
        service.transport.abort()


async def _receive(service: ClientConnection) -> bytes | str:
    try:
        return await service.recv()
    except ConnectionClosed:
        raise StreamEnded(_farewell_of(service)) from None


def _farewell_of(service: ClientConnection) -> CloseReason:
    return CloseReason(service.close_code or ABNORMAL, service.close_reason or "")


def _sendable(farewell: CloseReason) -> CloseReason:
    """Return a farewell whose code may be sent, RFC 6455 section 7.4.1."""
    if farewell.code == NO_STATUS:
        return CloseReason(NORMAL)
    if farewell.code == ABNORMAL:
        return CloseReason(BROKEN, "The other side was lost.")
    return farewell
