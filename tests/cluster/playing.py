"""Plays what a test does, within a limit of time."""

import asyncio
from collections.abc import Awaitable, Callable

LIMIT = 60.0


def play(work: Callable[[], Awaitable[None]]) -> None:
    """Await ``work()``."""

    async def limited() -> None:
        async with asyncio.timeout(LIMIT):
            await work()

    asyncio.run(limited())
