"""Which of several control planes drives a chat."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest
from sqlalchemy import text, update
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.agents.driving.driver import Driver
from deskhand.tools.store import chats
from deskhand.tools.store.database import Store
from deskhand.tools.store.rows import planes
from deskhand.tools.store.schema import ChatRow
from tests.cluster.playing import play
from tests.tools.store.fakes import chat_row

pytestmark = pytest.mark.cluster


class FakeTurns:
    """Notes which chats are started and interrupted."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.interrupted: list[str] = []
        self.changed = asyncio.Event()
        self.closed = 0.0

    @property
    def chat_ids(self) -> frozenset[str]:
        return frozenset(self.started)

    def generation_of(self, chat_id: str) -> int:
        raise AssertionError(chat_id)

    def start(self, chat_id: str) -> None:
        self.started.append(chat_id)
        self.changed.set()

    def ensure(self, chat_id: str) -> None:
        raise AssertionError(chat_id)

    def interrupt(self, chat_id: str) -> None:
        self.interrupted.append(chat_id)

    async def over(self, chat_id: str) -> None:
        if chat_id in self.started:
            self.started.remove(chat_id)

    async def close(self, seconds: float = 0.0) -> None:
        self.closed = seconds
        self.started.clear()


class Plane:
    def __init__(self, store: Store, name: str) -> None:
        self.turns = FakeTurns()
        self.driver = Driver(store, name, f"{name}:1").drive(self.turns)


@asynccontextmanager
async def two(url: str) -> AsyncIterator[tuple[Store, Plane, Plane]]:
    async with await Store.open(url) as store:
        found = Plane(store, "one"), Plane(store, "two")
        for each in found:
            await each.driver.open()
        yield store, *found


async def insert(session: AsyncSession, name: str, state: str = "queued") -> None:
    row = chat_row(name)
    row.state = state
    session.add(row)
    await session.flush()


async def changed(session: AsyncSession, state: str) -> None:
    await session.execute(update(ChatRow).values(state=state))


def test_one_drives_a_chat_and_finds_what_another_has_changed(database: str) -> None:
    async def work() -> None:
        async with two(database) as (store, one, two_):
            await store.write(partial(insert, name="a"))
            one.driver.start("a")
            await one.turns.changed.wait()
            assert one.driver.generation_of("a") == 1
            two_.driver.start("a")
            await two_.driver.close()
            assert two_.turns.started == []
            assert two_.driver.generation_of("a") == -1
            # The task has ended, and a message has arrived at the other one.
            await one.driver.over("a")
            assert await one.driver.beat() == ()
            assert one.turns.started == ["a"]
            await store.write(partial(changed, state="interrupting"))
            await one.driver.beat()
            assert one.turns.interrupted == ["a"]

    play(work)


def test_a_chat_that_is_driven_here_gets_another_turn(database: str) -> None:
    async def work() -> None:
        async with two(database) as (store, one, _):
            await store.write(partial(insert, name="a"))
            for _ in range(2):
                one.turns.changed.clear()
                one.driver.start("a")
                await one.turns.changed.wait()
            one.driver.ensure("a")
            assert one.turns.started == ["a", "a"]
            assert one.driver.generation_of("a") == 1
            assert one.driver.chat_ids == {"a"}
            one.driver.interrupt("a")
            assert one.turns.interrupted == ["a"]

    play(work)


def test_a_chat_gets_a_new_generation_only_when_its_task_has_ended(database: str) -> None:
    async def work() -> None:
        async with two(database) as (store, one, two_):
            await store.write(partial(insert, name="a"))
            assert await one.driver.beat() == ("a",)
            # Taken over while this one was stopped, and left again.
            await store.write(partial(planes.leave, plane="one"))
            assert await two_.driver.beat() == ("a",)
            await two_.driver.close()
            assert one.driver.generation_of("a") == 1
            assert await one.driver.beat() == ("a",)
            assert one.turns.started == ["a"]
            assert one.driver.generation_of("a") == 3

    play(work)


def test_the_chats_of_a_dead_one_spread_over_the_others(database: str) -> None:
    async def work() -> None:
        async with two(database) as (store, one, two_):
            for number in range(8):
                await store.write(partial(insert, name=f"c{number}"))
            await store.write(lambda s: planes.beat(s, "dead", "x"))
            await store.write(lambda s: s.execute(update(ChatRow).values(driver="dead")))
            assert await one.driver.beat() == ()
            old = text("UPDATE planes SET beat_at = beat_at - 11 WHERE id = 'dead'")
            await store.write(lambda s: s.execute(old))
            found = [await each.driver.beat(4) for each in (one, two_)]
            assert [len(each) for each in found] == [4, 4]
            assert {*found[0], *found[1]} == {f"c{n}" for n in range(8)}
            assert sorted(one.turns.started) == sorted(found[0])

    play(work)


def test_one_that_is_alone_waits_for_no_heartbeat(database: str) -> None:
    async def work() -> None:
        async with two(database) as (store, one, two_):
            await store.write(partial(insert, name="a"))
            assert await one.driver.beat() == ("a",)
            await two_.driver.open(alone=True)
            assert await two_.driver.beat() == ("a",)

    play(work)


def test_one_that_ends_leaves_its_chats_and_claims_no_more(database: str) -> None:
    async def work() -> None:
        async with two(database) as (store, one, two_):
            await store.write(partial(insert, name="a"))
            assert await one.driver.beat() == ("a",)
            await one.driver.close(4.0)
            assert one.turns.closed == 4.0
            assert await one.driver.beat() == ()
            assert await two_.driver.beat() == ("a",)
            assert two_.driver.generation_of("a") == 2

    play(work)


def test_a_chat_without_work_is_not_claimed(database: str) -> None:
    async def work() -> None:
        async with two(database) as (store, one, _):
            await store.write(partial(insert, name="a", state="waiting"))
            for name in ("a", "unknown"):
                one.driver.start(name)
            await one.driver.close()
            one.driver.start("a")
            await one.driver.close()
            assert one.turns.started == []
            assert (await store.read(lambda s: chats.get(s, "a"))).driver is None

    play(work)
