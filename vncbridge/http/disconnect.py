"""Ends work that nobody waits for any more."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.types import Receive

from deskhand.vncbridge.errors import ClientGone

T = TypeVar("T")


async def client_left(receive: Receive) -> None:
    """Return when the client closes its connection; the request's body must have been read."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def unless(gone: Coroutine[Any, Any, None], work: Coroutine[Any, Any, T]) -> T:
    """Return what ``work`` gives; cancel it as soon as ``gone`` returns.

    Raises:
        ClientGone: If ``gone`` was first.
    """
    working, leaving = asyncio.create_task(work), asyncio.create_task(gone)
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        leaving.result()
        raise ClientGone
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)
