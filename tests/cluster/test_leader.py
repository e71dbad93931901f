"""One control plane leads, of all that use a database."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from sqlalchemy import text

from deskhand.tools.store.backends.notice_channel import NoticeChannel
from deskhand.tools.store.backends.plane_lock import PlaneLocks
from deskhand.tools.store.database import Store

pytestmark = pytest.mark.cluster

POLL_SECONDS = 0.1
LEADER = text(
    "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND objid = :key"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)
KEY = {"key": 0x6465736E}


class Quiet:
    """No payloads to send; `waiting` returns as often as a connection is to be checked."""

    async def waiting(self) -> Sequence[str]:
        await asyncio.sleep(POLL_SECONDS)
        return ()

    def sent(self) -> None: ...
    def wake(self) -> None: ...


async def _nothing() -> None: ...


@asynccontextmanager
async def channel(url: str, name: str) -> AsyncIterator[PlaneLocks]:
    locks = PlaneLocks(name)
    made = NoticeChannel(url, locks, Quiet(), lambda _: None, _nothing)
    task = asyncio.create_task(made.run(POLL_SECONDS))
    try:
        yield locks
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert not locks.leads()


async def leader(*locks: PlaneLocks) -> PlaneLocks:
    """Return the one that leads, once there is one."""
    while True:
        leading = [each for each in locks if each.leads()]
        assert len(leading) <= 1
        if leading:
            return leading[0]
        await asyncio.sleep(POLL_SECONDS / 5)


def test_another_one_leads_after_the_end_of_the_first(database: str) -> None:
    async def scenario() -> None:
        async with asyncio.timeout(30), channel(database, "two") as two:
            async with channel(database, "one") as one:
                first = await leader(one, two)
                await asyncio.sleep(5 * POLL_SECONDS)
                assert await leader(one, two) is first
                if first is two:
                    assert not one.leads()
                    return
            assert await leader(two) is two

    asyncio.run(scenario())


def test_one_whose_connection_is_cut_does_not_lead(database: str) -> None:
    async def scenario() -> None:
        async with (
            asyncio.timeout(30),
            await Store.open(database) as store,
            channel(database, "one") as one,
        ):
            await leader(one)
            async with channel(database, "two") as two:
                await asyncio.sleep(5 * POLL_SECONDS)
                holder = await store.read(lambda s: s.scalar(LEADER, KEY))
                cut = text("SELECT pg_terminate_backend(:pid)").bindparams(pid=holder)
                await store.read(lambda s: s.scalar(cut))
                # A moment passes from the end of a lock at the server to its end here.
                while (  # noqa: ASYNC110 - of a server and of objects without an event
                    await store.read(lambda s: s.scalar(LEADER, KEY)) in (None, holder)
                    or one.leads() + two.leads() != 1
                ):
                    await asyncio.sleep(POLL_SECONDS / 5)

    asyncio.run(scenario())
