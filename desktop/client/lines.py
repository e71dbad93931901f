"""Lines of a response body that is still being received."""

import asyncio
from collections.abc import AsyncIterator


class StreamedLines:
    """Lines of a body, one at a time; a timeout loses none."""

    def __init__(self, lines: AsyncIterator[str]) -> None:
        self._lines = lines
        # The read outlives a timeout: cancelling it would drop a partly received line.
        self._coming: asyncio.Task[str | None] | None = None

    async def next(self, timeout: float | None = None) -> str | None:
        """Return the next line, None at the end.

        Raises:
            TimeoutError: If none arrives in ``timeout`` seconds.
        """
        if self._coming is None:
            self._coming = asyncio.create_task(self._read(), name="line")
        # Unlike wait_for, asyncio.wait does not cancel the read when the time is up.
        await asyncio.wait({self._coming}, timeout=timeout)
        if not self._coming.done():
            raise TimeoutError("nothing came in time")
        coming, self._coming = self._coming, None
        return coming.result()

    async def close(self) -> None:
        """Stop reading; twice is fine."""
        coming, self._coming = self._coming, None
        if coming is not None:
            coming.cancel()
            # An async generator cannot be closed while a task still runs it.
            await asyncio.gather(coming, return_exceptions=True)

    async def _read(self) -> str | None:
        return await anext(self._lines, None)
