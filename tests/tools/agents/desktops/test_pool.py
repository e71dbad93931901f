import asyncio
from collections.abc import Awaitable, Callable

import pytest

from deskhand.desktop.network.egress import Egress
from deskhand.tools.agents.desktops.pool import DesktopPool
from deskhand.tools.conversation.errors import NoDesktop
from tests.tools.agents.chats.fakes import LIMIT, FakeMachines


class Bench:
    """Desks over fake machines, with a note of what was taken back."""

    def __init__(self, limit: int) -> None:
        self.machines = FakeMachines()
        self.taken: list[str] = []
        self.time = 0.0
        self.pool = pool_of(self.machines, limit, self.released, lambda: self.time)

    async def acquire(self, chat_id: str) -> str:
        return await self.pool.acquire(chat_id, started(self.machines, chat_id))

    async def released(self, chat_id: str) -> None:
        self.taken.append(chat_id)


def pool_of(
    machines: FakeMachines,
    limit: int,
    released: Callable[[str], Awaitable[None]],
    clock: Callable[[], float],
) -> DesktopPool:
    return DesktopPool(
        machines, limit, released, lambda _, desktop: machines.in_use(desktop), clock
    )


def started(machines: FakeMachines, chat_id: str) -> Callable[[], Awaitable[str]]:
    return lambda: machines.acquire(chat_id, name=chat_id, root_id=chat_id, egress=Egress())


def _run(limit: int, scenario: Callable[[Bench], Awaitable[None]]) -> None:
    async def main() -> None:
        async with asyncio.timeout(LIMIT):
            await scenario(Bench(limit))

    asyncio.run(main())


def test_a_chat_keeps_its_desktop_while_it_lives() -> None:
    async def scenario(fixture: Bench) -> None:
        first = await fixture.acquire("a")
        fixture.pool.rest("a")
        assert await fixture.acquire("a") == first
        fixture.machines.desktops.clear()
        assert await fixture.acquire("a") != first

    _run(1, scenario)


def test_the_chat_that_rested_the_longest_loses_its_desktop_first() -> None:
    async def scenario(fixture: Bench) -> None:
        for chat in ("a", "b"):
            await fixture.acquire(chat)
        fixture.pool.rest("b")
        fixture.pool.rest("a")
        await fixture.acquire("c")
        assert fixture.taken == ["b"]
        assert fixture.machines.released == ["desktop-2"]

    _run(2, scenario)


def test_waiting_chats_are_served_in_order() -> None:
    async def scenario(fixture: Bench) -> None:
        await fixture.acquire("a")
        order: list[str] = []

        async def take(chat: str) -> None:
            await fixture.acquire(chat)
            order.append(chat)

        tasks = []
        for chat in ("b", "c", "d"):
            tasks.append(asyncio.create_task(take(chat)))
            await asyncio.sleep(0)
        assert [fixture.pool.position(chat) for chat in "abcd"] == [None, 1, 2, 3]
        await fixture.pool.release("a")
        await asyncio.gather(*tasks[:1])
        await fixture.pool.release("b")
        await asyncio.gather(*tasks[1:2])
        await fixture.pool.release("c")
        await asyncio.gather(*tasks)
        assert order == ["b", "c", "d"]

    _run(1, scenario)


def test_a_desktop_that_rests_for_long_is_released_unless_a_person_watches() -> None:
    async def scenario(fixture: Bench) -> None:
        for chat in ("a", "b", "c"):
            await fixture.acquire(chat)
        fixture.pool.rest("a")
        fixture.pool.rest("b")
        fixture.time = 10.0
        fixture.pool.rest("c")
        fixture.machines.watched = {"desktop-2"}
        fixture.time = 1809.0
        await fixture.pool.release_idle(1800.0)
        assert fixture.taken == ["a"]
        fixture.time = 1810.0
        fixture.machines.watched = set()
        await fixture.pool.release_idle(1800.0, besides={"c"})
        assert fixture.taken == ["a", "b"]
        await fixture.pool.release_idle(1800.0)
        assert fixture.taken == ["a", "b", "c"]

    _run(3, scenario)


def test_a_watched_desktop_is_not_released_for_another_chat() -> None:
    async def scenario(fixture: Bench) -> None:
        await fixture.acquire("a")
        fixture.pool.rest("a")
        fixture.machines.watched = {"desktop-1"}
        waiting = asyncio.create_task(fixture.acquire("b"))
        await asyncio.sleep(0)
        assert fixture.pool.position("b") == 1
        fixture.machines.watched = set()
        await fixture.pool.release_idle(1800.0)
        assert await waiting == "desktop-2"
        assert fixture.taken == ["a"]

    _run(1, scenario)


def test_a_change_during_the_check_for_room_is_not_missed() -> None:
    class Slow(FakeMachines):
        """Delays the answer of whether a viewer is connected."""

        def __init__(self) -> None:
            super().__init__(watched={"desktop-1"})
            self.asked_for = asyncio.Event()
            self.answers = asyncio.Event()

        async def in_use(self, desktop_id: str) -> bool:
            self.asked_for.set()
            await self.answers.wait()
            return desktop_id in self.watched

    async def scenario(fixture: Bench) -> None:
        machines = Slow()
        pool = pool_of(machines, 2, fixture.released, lambda: 0.0)
        await pool.acquire("watched", started(machines, "watched"))
        await pool.acquire("busy", started(machines, "busy"))
        pool.rest("watched")
        waiting = asyncio.create_task(pool.acquire("c", started(machines, "c")))
        await machines.asked_for.wait()
        pool.rest("busy")
        machines.answers.set()
        assert await waiting == "desktop-3"
        assert fixture.taken == ["busy"]

    _run(2, scenario)


def test_a_desktop_that_died_makes_room() -> None:
    async def scenario(fixture: Bench) -> None:
        await fixture.acquire("a")
        fixture.pool.rest("a")
        fixture.machines.desktops.clear()
        assert await fixture.acquire("b") == "desktop-2"
        assert (fixture.taken, fixture.machines.released) == ([], [])

    _run(1, scenario)


def test_a_position_is_known_before_the_request() -> None:
    async def scenario(fixture: Bench) -> None:
        for chat in "abcd":
            fixture.pool.expect(chat)
        assert [fixture.pool.position(chat) for chat in "abcd"] == [None, None, 1, 2]
        await fixture.acquire("a")
        await fixture.acquire("b")
        assert [fixture.pool.position(chat) for chat in "cd"] == [1, 2]
        fixture.pool.rest("c")
        assert [fixture.pool.position(chat) for chat in "cd"] == [None, 1]
        await fixture.pool.release("d")
        assert fixture.pool.position("d") is None

    _run(2, scenario)


def test_a_chat_that_stops_waiting_lets_the_next_one_move_up() -> None:
    async def scenario(fixture: Bench) -> None:
        await fixture.acquire("a")
        waiting = asyncio.create_task(fixture.acquire("b"))
        await asyncio.sleep(0)
        behind = asyncio.create_task(fixture.acquire("c"))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        assert fixture.pool.position("c") == 1
        await fixture.pool.release("a")
        assert await behind == "desktop-2"

    _run(1, scenario)


def test_a_desktop_that_does_not_start_takes_no_room() -> None:
    async def scenario(fixture: Bench) -> None:
        fixture.machines.failure = OSError("no display")
        with pytest.raises(OSError, match="no display"):
            await fixture.acquire("a")
        fixture.machines.failure = None
        assert await fixture.acquire("b") == "desktop-1"

    _run(1, scenario)


def test_releasing_what_is_not_there_does_nothing() -> None:
    async def scenario(fixture: Bench) -> None:
        await fixture.pool.release("a")
        fixture.pool.rest("a")
        fixture.pool.adopt("b", "old")
        await fixture.pool.release("b")
        assert (fixture.taken, fixture.machines.released) == (["b"], ["old"])

    _run(1, scenario)


def test_a_chat_does_not_wait_for_a_place_that_waits_for_it() -> None:
    async def scenario(fixture: Bench) -> None:
        await fixture.acquire("root")
        start = started(fixture.machines, "child")
        with pytest.raises(NoDesktop, match="raise the setting most_desktops"):
            await fixture.pool.acquire("child", start, ("root",))
        # It is no one's ancestor: its desktop becomes free in time.
        waiting = asyncio.create_task(fixture.pool.acquire("other", start))
        await asyncio.sleep(0)
        assert fixture.pool.position("other") == 1
        fixture.pool.rest("root")
        assert await waiting
        assert fixture.taken == ["root"]

    _run(1, scenario)


def test_a_parent_at_rest_makes_room_for_its_child() -> None:
    async def scenario(fixture: Bench) -> None:
        await fixture.acquire("root")
        fixture.pool.rest("root")
        start = started(fixture.machines, "child")
        assert await fixture.pool.acquire("child", start, ("root",))
        assert fixture.taken == ["root"]

    _run(1, scenario)


def test_two_parents_do_not_wait_for_each_others_place() -> None:
    async def scenario(fixture: Bench) -> None:
        for root in ("a", "b"):
            await fixture.acquire(root)
        start = started(fixture.machines, "child")
        first = asyncio.create_task(fixture.pool.acquire("of a", start, ("a",)))
        await asyncio.sleep(0)
        assert fixture.pool.position("of a") == 1
        second = asyncio.create_task(fixture.pool.acquire("of b", start, ("b",)))
        with pytest.raises(NoDesktop):
            await second
        fixture.pool.rest("b")
        assert await first
        assert fixture.taken == ["b"]

    _run(2, scenario)


def test_no_more_desktops_make_room_than_are_needed() -> None:
    async def scenario(fixture: Bench) -> None:
        ids = {chat: await fixture.acquire(chat) for chat in ("a", "b", "c")}
        for chat in ("b", "a", "c"):
            fixture.pool.rest(chat)
        assert await fixture.pool.release_some(ids.values(), 0) == 0
        assert await fixture.pool.release_some(ids.values(), 2) == 2
        assert fixture.taken == ["b", "a"]

    _run(4, scenario)


def test_only_named_desktops_at_rest_and_not_in_use_make_room() -> None:
    async def scenario(fixture: Bench) -> None:
        ids = {chat: await fixture.acquire(chat) for chat in ("a", "b", "c", "d")}
        for chat in ("a", "b", "c"):
            fixture.pool.rest(chat)
        fixture.machines.watched = {ids["b"]}
        assert await fixture.pool.release_some({ids["a"], ids["b"], ids["d"]}, 4) == 1
        assert fixture.taken == ["a"]
        assert fixture.machines.released == [ids["a"]]

    _run(4, scenario)


async def begun(work: Awaitable[object]) -> asyncio.Task[object]:
    task = asyncio.ensure_future(work)
    await asyncio.sleep(0)
    return task


def test_a_place_that_was_given_back_serves_another_chat() -> None:
    async def scenario(fixture: Bench) -> None:
        first = await fixture.acquire("a")
        fixture.pool.give_back("a")
        assert await fixture.acquire("b") != first
        assert (fixture.pool.held("a"), fixture.machines.released) == (first, [])
        again = await begun(fixture.pool.take_again("a"))
        other = await begun(fixture.acquire("c"))
        assert [fixture.pool.position(chat) for chat in "abc"] == [1, None, 2]
        fixture.pool.rest("b")
        await again
        assert fixture.taken == ["b"]
        assert (fixture.pool.held("a"), fixture.pool.position("c")) == (first, 1)
        fixture.pool.rest("a")
        await other

    _run(1, scenario)


def test_a_desktop_whose_place_was_given_back_counts_without_memory() -> None:
    async def scenario(fixture: Bench) -> None:
        await fixture.acquire("a")
        fixture.machines.memory = False
        fixture.pool.give_back("a")
        other = await begun(fixture.acquire("b"))
        assert fixture.pool.position("b") == 1
        # It has its own place still.
        await fixture.pool.take_again("a")
        fixture.pool.give_back("a")
        fixture.machines.memory = True
        await fixture.pool.release_idle(1800.0)
        await other

    _run(1, scenario)


def test_a_place_is_taken_again_without_a_wait_if_that_is_not_needed() -> None:
    async def scenario(fixture: Bench) -> None:
        # Of a chat without a desktop, nothing is given back.
        fixture.pool.give_back("a")
        await fixture.pool.take_again("a")
        await fixture.acquire("a")
        await fixture.pool.take_again("a")
        fixture.pool.give_back("a")
        await fixture.acquire("b")
        # After a cancellation there may be one too many.
        fixture.pool.keep("a")
        other = await begun(fixture.acquire("c"))
        await fixture.pool.release("b")
        assert fixture.pool.position("c") == 1
        fixture.pool.give_back("a")
        await other
        fixture.machines.desktops.clear()
        # Its desktop was lost meanwhile.
        await fixture.pool.take_again("a")

    _run(1, scenario)
