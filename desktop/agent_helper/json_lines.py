"""Lines of JSON from a pipe that the helper writes to."""

import asyncio
import json
import os
from collections import deque
from typing import Any

Json = dict[str, Any]

READ_SIZE = 65_536
LONGEST_LINE = 1_048_576


class JsonLines:
    """Reads a pipe on one event loop, no further than its reader has taken lines."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._readable = asyncio.Event()
        self._rest = b""
        self._lines: deque[Json] = deque()
        self._closed = False

    async def next(self) -> Json | None:
        """Return the next line; None at the end of the pipe, or after something that is no line."""
        while not self._lines:
            if self._closed:
                return None
            try:
                data = os.read(self._descriptor, READ_SIZE)
            except BlockingIOError:
                await self._wait()
                continue
            if not data or not self._take(data):
                self.close()
        return self._lines.popleft()

    def close(self) -> None:
        """Close the pipe; twice is fine."""
        if not self._closed:
            self._closed = True
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._readable.set()

    async def _wait(self) -> None:
        self._readable.clear()
        self._loop.add_reader(self._descriptor, self._readable.set)
        try:
            await self._readable.wait()
        finally:
            if not self._closed:
                self._loop.remove_reader(self._descriptor)

    def _take(self, data: bytes) -> bool:
        *lines, self._rest = (self._rest + data).split(b"\n")
        try:
            found = [json.loads(line) for line in lines]
        except (ValueError, RecursionError):
            return False
        self._lines.extend(found)
        return len(self._rest) <= LONGEST_LINE and all(isinstance(one, dict) for one in found)
