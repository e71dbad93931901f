import asyncio
from pathlib import Path

from deskhand.tools.credentials.database_clock import DatabaseClock
from deskhand.tools.store.database import Store
from tests.tools.store.fakes import database


def test_it_shows_the_time_that_was_set_and_what_has_passed_since() -> None:
    ticks = [1000.0]
    clock = DatabaseClock(lambda: ticks[0])
    clock.set(970.0)
    assert clock() == 970.0
    ticks[0] += 5.0
    assert clock() == 975.0
    # The clock of the machine was changed.
    ticks[0] -= 3600.0
    clock.set(976.0)
    assert clock() == 976.0


def test_clocks_that_differ_show_one_time(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with await Store.open(database(tmp_path / "deskhand.db")) as store:
            ahead, behind = DatabaseClock(lambda: 9e9), DatabaseClock(lambda: 0.0)
            await ahead.read(store)
            first = ahead()
            await behind.read(store)
            await ahead.read(store)
            assert first <= behind() <= ahead()

    asyncio.run(scenario())
