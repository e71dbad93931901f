import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from sqlalchemy import func, select

from deskhand.tools.oidc.used_sign_ins import UsedSignIns
from deskhand.tools.store.database import Store
from deskhand.tools.store.tables.shared import BegunSignInRow
from tests.tools.store.fakes import database


def opened(folder: Path, work: Callable[[Store], Awaitable[None]]) -> None:
    async def scenario() -> None:
        async with await Store.open(database(folder / "deskhand.db")) as store:
            await work(store)

    asyncio.run(scenario())


async def number(store: Store) -> int:
    found = await store.read(lambda s: s.scalar(select(func.count(BegunSignInRow.digest))))
    return found or 0


def test_of_several_that_use_a_sign_in_one_does(tmp_path: Path) -> None:
    async def work(store: Store) -> None:
        one, other = UsedSignIns(store), UsedSignIns(store)
        ends_at = await one.now() + 60.0
        uses = [each.use("state", ends_at) for _ in range(5) for each in (one, other)]
        assert sorted(await asyncio.gather(*uses)) == [False] * 9 + [True]
        assert await other.use("another", ends_at)

    opened(tmp_path, work)


def test_those_that_are_over_are_removed_by_the_next(tmp_path: Path) -> None:
    async def work(store: Store) -> None:
        used = UsedSignIns(store)
        now = await used.now()
        for state, ends_at in (("over", now - 1.0), ("lasting", now + 60.0), ("next", now + 60.0)):
            assert await used.use(state, ends_at)
        assert await number(store) == 2

    opened(tmp_path, work)
