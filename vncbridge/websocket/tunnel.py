"""Tunnel between a browser's WebSocket and a WebSocket of a service behind this one."""

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

CLOSE_SECONDS = 1.0
"""Timeout for the service's answer to our close frame."""


async def until_one_ends(*copies: Coroutine[None, None, NoReturn]) -> CloseReason:
    """Run coroutines until one raises `StreamEnded`, cancel the others, return its close reason."""
    tasks = [asyncio.create_task(copy) for copy in copies]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        # Other exceptions than `StreamEnded` reach the caller.
        await next(iter(done))
    except StreamEnded as end:
        return end.close_reason
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def tunnel(
    browser: WebSocket, service: ClientConnection, stuck_seconds: float = STUCK_SECONDS
) -> None:
    """Pass messages both ways until either side closes, then close the other with its reason.

    ``browser`` has been accepted. Each direction reads again only when its last message was
    accepted, so memory stays bounded whichever side is slow.
    """
    client = ClientStream(browser, stuck_seconds)

    async def to_browser() -> NoReturn:
        while True:
            await client.send(await _receive(service))

    async def to_service() -> NoReturn:
        while True:
            message = await client.receive()
            try:
                await service.send(message)
            except ConnectionClosed:
                raise StreamEnded(_close_reason_of(service)) from None

    close_reason = _sendable(await until_one_ends(to_browser(), to_service()))
    await client.close(close_reason)
    try:
        async with asyncio.timeout(CLOSE_SECONDS):
            await service.close(*close_reason)
    except TimeoutError:
        # The service does not answer the close frame, and the browser's connection has ended
        # already.
        service.transport.abort()


async def _receive(service: ClientConnection) -> bytes | str:
    try:
        return await service.recv()
    except ConnectionClosed:
        raise StreamEnded(_close_reason_of(service)) from None


def _close_reason_of(service: ClientConnection) -> CloseReason:
    return CloseReason(service.close_code or ABNORMAL, service.close_reason or "")


def _sendable(close_reason: CloseReason) -> CloseReason:
    """Return a close reason whose code may be sent, RFC 6455 section 7.4.1."""
    if close_reason.code == NO_STATUS:
        return CloseReason(NORMAL)
    if close_reason.code == ABNORMAL:
        return CloseReason(BROKEN, "The other side was lost.")
    return close_reason
