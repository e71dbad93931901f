"""Plays what a test does, within a limit of time."""

import asyncio
from collections.abc import Awaitable, Callable

from tests.system.services import PATIENCE

LIMIT = 3 * PATIENCE


def play(work: Callable[[], Awaitable[None]]) -> None:
    """Await ``work()``."""

    async def limited() -> None:
        async with asyncio.timeout(LIMIT):
            await work()

    asyncio.run(limited())
