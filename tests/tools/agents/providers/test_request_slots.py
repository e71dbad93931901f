import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from deskhand.tools.agents.providers.request_slots import RequestSlots


class Requests:
    """Requests that hold a slot until they are released."""

    def __init__(self, most: int) -> None:
        self.slots = RequestSlots(most)
        self.began: list[str] = []
        self._ends: dict[str, asyncio.Event] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def begin(self, *names: str) -> None:
        """Begin requests; the first letter of each name is its conversation."""
        for name in names:
            self._ends[name] = asyncio.Event()
            self._tasks[name] = asyncio.create_task(self._run(name))
            await self.step()

    async def end(self, name: str) -> None:
        self._ends[name].set()
        await self._tasks[name]
        await self.step()

    async def cancel(self, *names: str) -> None:
        for name in names:
            self._tasks[name].cancel()
        await asyncio.gather(*(self._tasks[name] for name in names), return_exceptions=True)
        await self.step()

    async def step(self) -> None:
        for _ in range(5):
            await asyncio.sleep(0)

    async def _run(self, name: str) -> None:
        async with self.slots.slot(name[0]):
            self.began.append(name)
            await self._ends[name].wait()


def run(scenario: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(scenario())


def test_no_more_requests_than_slots_are_under_way() -> None:
    async def scenario() -> None:
        requests = Requests(2)
        await requests.begin("a1", "a2", "a3")
        assert requests.began == ["a1", "a2"]
        await requests.end("a1")
        assert requests.began == ["a1", "a2", "a3"]
        await requests.end("a2")
        await requests.end("a3")
        assert requests.slots.held == 0

    run(scenario)


def test_a_conversation_with_many_requests_does_not_delay_another() -> None:
    async def scenario() -> None:
        requests = Requests(2)
        await requests.begin("a1", "a2", "a3", "a4", "b1", "c1", "c2")
        await requests.end("a1")
        await requests.end("a2")
        # Those of ``b`` and ``c`` came later, and their conversations had none under way.
        assert requests.began[2:] == ["b1", "c1"]
        await requests.end("b1")
        assert requests.began[4:] == ["a3"]
        await requests.end("a3")
        assert requests.began[5:] == ["a4"]
        await requests.end("c1")
        assert requests.began[6:] == ["c2"]
        await requests.cancel("a4", "c2")

    run(scenario)


def test_a_wait_that_is_cancelled_takes_no_slot() -> None:
    async def scenario() -> None:
        requests = Requests(1)
        await requests.begin("a1", "b1", "b2", "c1")
        await requests.cancel("b1")
        await requests.end("a1")
        assert requests.began == ["a1", "b2"]
        await requests.end("b2")
        assert requests.began == ["a1", "b2", "c1"]
        await requests.end("c1")
        assert requests.slots.held == 0

    run(scenario)


def test_a_wait_that_is_cancelled_as_its_slot_becomes_free_passes_it_on() -> None:
    async def scenario() -> None:
        requests = Requests(1)
        await requests.begin("a1", "b1", "c1")
        # In one step of the loop: the slot goes to ``b1``, which is cancelled before it runs.
        requests._ends["a1"].set()
        await asyncio.sleep(0)
        await requests.cancel("b1")
        assert requests.began == ["a1", "c1"]
        await requests.end("c1")
        assert requests.slots.held == 0

    run(scenario)


def test_a_failure_releases_the_slot() -> None:
    async def scenario() -> None:
        slots = RequestSlots(1)
        with pytest.raises(ValueError, match="broken"):
            async with slots.slot("a"):
                raise ValueError("broken")
        assert slots.held == 0

    run(scenario)
