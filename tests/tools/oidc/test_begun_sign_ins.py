import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from sqlalchemy import func, select

from deskhand.tools.oidc.begun_sign_ins import LONGEST_ONWARD, BegunSignIn, BegunSignIns
from deskhand.tools.store.database import Store
from deskhand.tools.store.tables.shared import BegunSignInRow
from tests.tools.store.fakes import database

BEGUN = BegunSignIn("http://plane/login/oidc/callback", "/runs/7")


def opened(folder: Path, work: Callable[[Store], Awaitable[None]]) -> None:
    async def scenario() -> None:
        async with await Store.open(database(folder / "deskhand.db")) as store:
            await work(store)

    asyncio.run(scenario())


async def number(store: Store) -> int:
    found = await store.read(lambda s: s.scalar(select(func.count(BegunSignInRow.digest))))
    return found or 0


def test_of_several_that_take_a_sign_in_one_gets_it(tmp_path: Path) -> None:
    async def work(store: Store) -> None:
        one, other = BegunSignIns(store, 60.0), BegunSignIns(store, 60.0)
        await one.add("state", BEGUN)
        takes = [each.take("state") for _ in range(5) for each in (one, other)]
        assert [one for one in await asyncio.gather(*takes) if one is not None] == [BEGUN]
        assert await one.take("unknown") is None

    opened(tmp_path, work)


def test_a_sign_in_that_is_over_is_not_taken_and_removed_by_the_next(tmp_path: Path) -> None:
    async def work(store: Store) -> None:
        short, long = BegunSignIns(store, 0.0), BegunSignIns(store, 60.0)
        await short.add("short", BEGUN)
        assert await long.take("short") is None
        await long.add("long", BEGUN)
        assert await number(store) == 1
        assert await long.take("long") == BEGUN

    opened(tmp_path, work)


def test_the_oldest_sign_ins_make_room_for_new_ones(tmp_path: Path) -> None:
    async def work(store: Store) -> None:
        begun = BegunSignIns(store, 60.0, most=3)
        for lasting in (60.0, 90.0):
            for index in range(4):
                await BegunSignIns(store, lasting, most=3).add(f"{lasting} {index}", BEGUN)
                assert await number(store) <= 3
        assert await number(store) == 3
        assert await begun.take("90.0 3") == BEGUN
        assert [await begun.take(f"60.0 {index}") for index in range(4)] == [None] * 4

    opened(tmp_path, work)


@pytest.mark.parametrize("onward", ["/" + "x" * LONGEST_ONWARD, "/runs/\0", "/\u202e"])
def test_a_page_that_cannot_be_one_is_not_kept(tmp_path: Path, onward: str) -> None:
    async def work(store: Store) -> None:
        begun = BegunSignIns(store, 60.0)
        await begun.add("state", BegunSignIn("http://plane", onward))
        assert await begun.take("state") == BegunSignIn("http://plane", "")

    opened(tmp_path, work)
