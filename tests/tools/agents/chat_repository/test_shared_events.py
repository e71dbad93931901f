"""Events of chats on buses of one process; tests/cluster/test_bus.py has that of PostgreSQL."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from deskhand.tools.store.database import Store
from tests.tools.agents.chat_repository.sharing import SCENARIOS
from tests.tools.store.backends.bus_contract import LIMIT, BusEnds, TaskEnds
from tests.tools.store.backends.test_bus import BUSES, Opened
from tests.tools.store.fakes import database


@pytest.mark.parametrize("opened", BUSES, ids=lambda one: one.__name__)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.__name__)
def test_chats_are_shown_over_any_bus(
    scenario: Callable[[BusEnds, Store], Awaitable[None]],
    opened: Callable[[], Opened],
    tmp_path: Path,
) -> None:
    async def main() -> None:
        ends = TaskEnds(opened())
        try:
            async with (
                asyncio.timeout(LIMIT),
                await Store.open(database(tmp_path / "deskhand.db")) as store,
            ):
                await scenario(ends, store)
        finally:
            await ends.close()

    asyncio.run(main())
