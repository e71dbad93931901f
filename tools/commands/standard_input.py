"""End of the standard input, with which a program ends that another one has started."""

import asyncio
import sys
from typing import Literal


async def input_end() -> Literal[True]:
    """Return at the end of the standard input, a pipe."""
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while await reader.read(1 << 16):
        pass
    return True
