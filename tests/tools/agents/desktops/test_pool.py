import asyncio
from collections.abc import Awaitable, Callable

import pytest

from deskhand.tools.agents.desktops.pool import DesktopPool
from tests.tools.agents.chats.fakes import LIMIT, FakeMachines


class Bench:
    """Desks over fake machines, with a note of what was taken back."""

    def __init__(self, limit: int) -> None:
        self.machines = FakeMachines()
        self.taken: list[str] = []
        self.time = 0.0
        self.desks = DesktopPool(self.machines, limit, self._released, lambda: self.time)

    async def _released(self, chat_id: str) -> None:
        self.taken.append(chat_id)


def _run(limit: int, scenario: Callable[[Bench], Awaitable[None]]) -> None:
    async def main() -> None:
        async with asyncio.timeout(LIMIT):
            await scenario(Bench(limit))

    asyncio.run(main())


def test_a_chat_keeps_its_desktop_while_it_lives() -> None:
    async def scenario(bench: Bench) -> None:
        first = await bench.desks.acquire("a", "A")
        bench.desks.rest("a")
        assert await bench.desks.acquire("a", "A") == first
        bench.machines.desktops.clear()
        assert await bench.desks.acquire("a", "A") != first

    _run(1, scenario)


def test_the_longest_at_rest_gives_its_desktop_back_first() -> None:
    async def scenario(bench: Bench) -> None:
        for chat in ("a", "b"):
            await bench.desks.acquire(chat, chat)
        bench.desks.rest("b")
        bench.desks.rest("a")
        await bench.desks.acquire("c", "c")
        assert bench.taken == ["b"]
        assert bench.machines.released == ["desktop-2"]

    _run(2, scenario)


def test_who_waits_is_served_in_order() -> None:
    async def scenario(bench: Bench) -> None:
        await bench.desks.acquire("a", "A")
        order: list[str] = []

        async def take(chat: str) -> None:
            await bench.desks.acquire(chat, chat)
            order.append(chat)

        tasks = []
        for chat in ("b", "c", "d"):
            tasks.append(asyncio.create_task(take(chat)))
            await asyncio.sleep(0)
        assert [bench.desks.place(chat) for chat in "abcd"] == [None, 1, 2, 3]
        await bench.desks.release("a")
        await asyncio.gather(*tasks[:1])
        await bench.desks.release("b")
        await asyncio.gather(*tasks[1:2])
        await bench.desks.release("c")
        await asyncio.gather(*tasks)
        assert order == ["b", "c", "d"]

    _run(1, scenario)


def test_a_desktop_that_rests_for_long_is_taken_back_unless_somebody_watches() -> None:
    async def scenario(bench: Bench) -> None:
        for chat in ("a", "b", "c"):
            await bench.desks.acquire(chat, chat)
        bench.desks.rest("a")
        bench.desks.rest("b")
        bench.time = 10.0
        bench.desks.rest("c")
        bench.machines.watched = {"desktop-2"}
        bench.time = 1809.0
        await bench.desks.take_back(1800.0)
        assert bench.taken == ["a"]
        bench.time = 1810.0
        bench.machines.watched = set()
        await bench.desks.take_back(1800.0)
        assert bench.taken == ["a", "b", "c"]

    _run(3, scenario)


def test_a_desktop_that_somebody_watches_is_not_given_to_another_chat() -> None:
    async def scenario(bench: Bench) -> None:
        await bench.desks.acquire("a", "A")
        bench.desks.rest("a")
        bench.machines.watched = {"desktop-1"}
        waiting = asyncio.create_task(bench.desks.acquire("b", "B"))
        await asyncio.sleep(0)
        assert bench.desks.place("b") == 1
        bench.machines.watched = set()
        await bench.desks.take_back(1800.0)
        assert await waiting == "desktop-2"
        assert bench.taken == ["a"]

    _run(1, scenario)


def test_who_waits_does_not_sleep_through_what_happens_while_it_looks() -> None:
    class Slow(FakeMachines):
        """Takes its time to say whether somebody watches."""

        def __init__(self) -> None:
            super().__init__(watched={"desktop-1"})
            self.asked_for = asyncio.Event()
            self.answers = asyncio.Event()

        async def in_use(self, desktop_id: str) -> bool:
            self.asked_for.set()
            await self.answers.wait()
            return desktop_id in self.watched

    async def scenario(bench: Bench) -> None:
        machines = Slow()
        desks = DesktopPool(machines, 2, bench._released, lambda: 0.0)
        await desks.acquire("watched", "A")
        await desks.acquire("busy", "B")
        desks.rest("watched")
        waiting = asyncio.create_task(desks.acquire("c", "C"))
        await machines.asked_for.wait()
        desks.rest("busy")
        machines.answers.set()
        assert await waiting == "desktop-3"
        assert bench.taken == ["busy"]

    _run(2, scenario)


def test_a_desktop_that_died_makes_room() -> None:
    async def scenario(bench: Bench) -> None:
        await bench.desks.acquire("a", "A")
        bench.desks.rest("a")
        bench.machines.desktops.clear()
        assert await bench.desks.acquire("b", "B") == "desktop-2"
        assert (bench.taken, bench.machines.released) == ([], [])

    _run(1, scenario)


def test_a_place_is_known_before_the_chat_asks() -> None:
    async def scenario(bench: Bench) -> None:
        for chat in "abcd":
            bench.desks.expect(chat)
        assert [bench.desks.place(chat) for chat in "abcd"] == [None, None, 1, 2]
        await bench.desks.acquire("a", "A")
        await bench.desks.acquire("b", "B")
        assert [bench.desks.place(chat) for chat in "cd"] == [1, 2]
        bench.desks.rest("c")
        assert [bench.desks.place(chat) for chat in "cd"] == [None, 1]
        await bench.desks.release("d")
        assert bench.desks.place("d") is None

    _run(2, scenario)


def test_giving_up_the_place_lets_the_next_one_move_up() -> None:
    async def scenario(bench: Bench) -> None:
        await bench.desks.acquire("a", "A")
        waiting = asyncio.create_task(bench.desks.acquire("b", "B"))
        await asyncio.sleep(0)
        behind = asyncio.create_task(bench.desks.acquire("c", "C"))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        assert bench.desks.place("c") == 1
        await bench.desks.release("a")
        assert await behind == "desktop-2"

    _run(1, scenario)


def test_a_desktop_that_does_not_start_takes_no_room() -> None:
    async def scenario(bench: Bench) -> None:
        bench.machines.failure = OSError("no display")
        with pytest.raises(OSError, match="no display"):
            await bench.desks.acquire("a", "A")
        bench.machines.failure = None
        assert await bench.desks.acquire("b", "B") == "desktop-1"

    _run(1, scenario)


def test_releasing_what_is_not_there_does_nothing() -> None:
    async def scenario(bench: Bench) -> None:
        await bench.desks.release("a")
        bench.desks.rest("a")
        bench.desks.adopt("b", "old")
        await bench.desks.release("b")
        assert (bench.taken, bench.machines.released) == (["b"], ["old"])

    _run(1, scenario)
