"""End of the standard input, with which a program ends that another one has started."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Literal


async def input_end() -> Literal[True]:
    """Return at the end of the standard input, a pipe."""
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while await reader.read(1 << 16):
        pass
    return True


@asynccontextmanager
async def ending_with_input(end: Callable[[], object]) -> AsyncIterator[None]:
    """Call ``end`` at the end of the standard input; one that is no pipe has ended."""

    async def wait() -> None:
        with suppress(ValueError):
            await input_end()
        end()

    watch = asyncio.create_task(wait(), name="end of the input")
    try:
        yield
    finally:
        watch.cancel()
        await asyncio.gather(watch, return_exceptions=True)
