"""Cancel the work for a request when its client disconnects."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.types import Receive

from deskhand.vncbridge.errors import ClientGone

T = TypeVar("T")


async def disconnected(receive: Receive) -> None:
    """Return when the client closes its connection, HTTP or WebSocket.

    The body of an HTTP request must have been read: only one task may call ``receive``, and every
    other message is discarded.
    """
    while (await receive())["type"] not in ("http.disconnect", "websocket.disconnect"):
        pass


async def run_unless(work: Coroutine[Any, Any, T], *stops: Coroutine[Any, Any, None]) -> T:
    """Return the result of ``work``; cancel it as soon as one of ``stops`` ends.

    A result wins over a stop of the same moment: what is done is reported. Returns only after
    ``work`` has handled its cancellation.

    Raises:
        ClientGone: If a stop returned first. If it raised, its exception.
    """
    working = asyncio.create_task(work)
    stopping = [asyncio.create_task(stop) for stop in stops]
    tasks = (working, *stopping)
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        for stop in stopping:
            if stop.done():
                # A stop that failed raises its own exception here instead of ``ClientGone``.
                stop.result()
        raise ClientGone
    finally:
        for task in tasks:
            task.cancel()
        # Work that is still running would use the caller's resources after it has closed them.
        await asyncio.gather(*tasks, return_exceptions=True)
