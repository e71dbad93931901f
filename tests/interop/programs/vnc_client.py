"""Connects to a screen by a host and a port alone, moves the pointer, and prints the size."""

import asyncio
import sys

import asyncvnc2

host, port, x, y = sys.argv[1:]


async def main() -> None:
    async with asyncvnc2.connect(host, int(port)) as client:
        client.mouse.move(int(x), int(y))
        # The answer proves that the server has read the messages before it.
        pixels = await client.screenshot()
        sys.stdout.write(f"{pixels.shape[1]}x{pixels.shape[0]}")


asyncio.run(main())
