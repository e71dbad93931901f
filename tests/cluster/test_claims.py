"""Several control planes that claim chats of one database."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

import pytest
from sqlalchemy import Executable, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.store.database import Store
from deskhand.tools.store.rows import claims, planes
from deskhand.tools.store.schema import ChatRow
from deskhand.tools.store.tables.shared import PlaneRow
from tests.cluster.playing import play
from tests.tools.store.fakes import chat_row

pytestmark = pytest.mark.cluster

PLANES, ROUNDS, CHATS, SEED = 8, 60, 20, 20_261_123


@asynccontextmanager
async def opened(url: str, number: int) -> AsyncIterator[list[Store]]:
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(await Store.open(url)) for _ in range(number)]


async def insert(session: AsyncSession, *names: str, state: str = "queued") -> None:
    for name in names:
        row = chat_row(name)
        row.state = state
        session.add(row)
    await session.flush()


async def _run(session: AsyncSession, statement: Executable) -> None:
    await session.execute(statement)


def test_no_chat_is_claimed_twice_in_a_round(database: str) -> None:
    async def work() -> None:
        chance = random.Random(SEED)
        names = [f"c{n}" for n in range(CHATS)]
        async with opened(database, PLANES) as stores:
            await stores[0].write(lambda s: insert(s, *names))
            generations = dict.fromkeys(names, 0)
            for _ in range(ROUNDS):
                # All planes live in each round, also where the rounds take longer than a heartbeat.
                for number in range(PLANES):
                    beat = partial(planes.beat, plane=f"p{number}", address="a")
                    await stores[0].write(beat)
                # The drivers of half of the chats die.
                lost = chance.sample(names, CHATS // 2)
                dead = update(ChatRow).where(ChatRow.id.in_(lost)).values(driver="dead")
                await stores[0].write(partial(_run, statement=dead))
                order = chance.sample(range(PLANES), PLANES)
                found = await asyncio.gather(
                    *(stores[n].write(partial(claims.claim, plane=f"p{n}", most=5)) for n in order)
                )
                times = Counter(name for one in found for name in one)
                assert set(times.values()) <= {1}, (SEED, times)
                for one in found:
                    for name, generation in one.items():
                        assert generation == generations[name] + 1, (SEED, name)
                        generations[name] = generation
            rest = await stores[0].write(lambda s: claims.claim(s, "p0", CHATS))
            driven = await stores[0].read(claims.driven)
            assert sum(driven.values()) == CHATS, rest

    play(work)


def test_only_unfinished_chats_of_dead_control_planes_are_claimed(database: str) -> None:
    async def work() -> None:
        async with opened(database, 1) as (store,):
            await store.write(lambda s: insert(s, "busy", "other"))
            await store.write(lambda s: insert(s, "waiting", state="waiting"))
            for name in ("one", "two"):
                await store.write(partial(planes.beat, plane=name, address=f"{name}:1"))
            assert await store.write(lambda s: claims.claim(s, "one", 1)) == {"busy": 1}
            assert await store.write(lambda s: claims.claim(s, "two", 9)) == {"other": 1}
            assert await store.write(lambda s: claims.claim(s, "two", 9)) == {}
            assert await store.read(planes.living) == {"one": "one:1", "two": "two:1"}
            old = text("UPDATE planes SET beat_at = beat_at - 11 WHERE id = 'one'")
            await store.write(lambda s: s.execute(old))
            assert await store.read(planes.living) == {"two": "two:1"}
            assert await store.write(lambda s: claims.claim(s, "two", 9)) == {"busy": 2}
            await store.write(lambda s: claims.release(s, "two"))
            await store.write(lambda s: planes.beat(s, "one", "one:2"))
            assert await store.write(lambda s: claims.claim(s, "one", 9)) == {"busy": 3, "other": 2}
            await store.write(lambda s: planes.leave(s, "one"))
            assert await store.write(lambda s: claims.claim(s, "two", 9)) == {"busy": 4, "other": 3}

    play(work)


def test_rows_of_control_planes_that_were_killed_are_deleted_after_a_day(database: str) -> None:
    async def work() -> None:
        async with opened(database, 1) as (store,):
            for name in ("killed", "stopped", "one"):
                await store.write(partial(planes.beat, plane=name, address="a"))
            await store.write(lambda s: insert(s, "busy", "late", "other"))
            held = text("UPDATE chats SET driver = 'killed', generation = 3 WHERE id != 'other'")
            await store.write(partial(_run, statement=held))
            await store.write(
                partial(_run, statement=text("UPDATE chats SET driver = 'one' WHERE id = 'other'"))
            )
            for name, seconds in (("killed", 86_401), ("stopped", 86_000)):
                old = text(f"UPDATE planes SET beat_at = beat_at - {seconds} WHERE id = '{name}'")
                await store.write(partial(_run, statement=old))
            # A heartbeat of one that has a row deletes nothing.
            await store.write(partial(planes.beat, plane="one", address="a"))
            assert await store.read(_planes) == {"killed", "stopped", "one"}
            await store.write(partial(planes.beat, plane="new", address="a"))
            assert await store.read(_planes) == {"stopped", "one", "new"}
            assert await store.read(_drivers) == {"busy": None, "late": None, "other": "one"}
            # Its chats are claimed as those of any dead one.
            assert await store.write(lambda s: claims.claim(s, "new", 9)) == {
                "busy": 4,
                "late": 4,
            }

    play(work)


async def _planes(session: AsyncSession) -> set[str]:
    return set(await session.scalars(select(PlaneRow.id)))


async def _drivers(session: AsyncSession) -> dict[str, str | None]:
    rows = await session.execute(select(ChatRow.id, ChatRow.driver))
    return {row.id: row.driver for row in rows}
