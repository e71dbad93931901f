import asyncio
from collections.abc import AsyncIterator

import pytest

from deskhand.desktop.client.lines import StreamedLines


class Source:
    """Lines that come when the test says so."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[str | None] = asyncio.Queue()

    async def __call__(self) -> AsyncIterator[str]:
        while (line := await self.queue.get()) is not None:
            yield line


def test_lines_come_in_order_and_end() -> None:
    async def scenario() -> None:
        source = Source()
        lines = StreamedLines(source())
        for line in ("a", "b", None):
            source.queue.put_nowait(line)
        assert [await lines.next(), await lines.next(), await lines.next()] == ["a", "b", None]
        await lines.close()

    asyncio.run(scenario())


def test_to_give_up_waiting_loses_nothing() -> None:
    async def scenario() -> None:
        source = Source()
        lines = StreamedLines(source())
        with pytest.raises(TimeoutError):
            await lines.next(0.0)
        waiting = asyncio.create_task(lines.next())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        source.queue.put_nowait("late")
        assert await lines.next() == "late"

    asyncio.run(scenario())


def test_closing_ends_the_reading_twice() -> None:
    async def scenario() -> None:
        lines = StreamedLines(Source()())
        with pytest.raises(TimeoutError):
            await lines.next(0.0)
        await lines.close()
        await lines.close()

    asyncio.run(scenario())
