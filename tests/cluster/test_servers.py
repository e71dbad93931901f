"""The database on a server: its schema, its faults, and what errors show of it."""

import asyncio

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from deskhand.tools.store.backends.postgresql import server_version
from deskhand.tools.store.database import FaultTiming, Store
from deskhand.tools.store.errors import DatabaseTooNew, StoreUnavailable
from deskhand.tools.store.faults.health import patience
from tests.cluster.playing import LIMIT, play
from tests.postgres_server import PostgresServer
from tests.tools.store.fakes import FakePatience, chat_row

pytestmark = pytest.mark.cluster

SHORT = FaultTiming(busy=0.01, first_delay=0.01, longest_delay=0.05, longest_check=0.05)
WRONG = "postgresql://tester:s3cret@127.0.0.1:1/nowhere"


async def insert(session: AsyncSession, name: str) -> None:
    session.add(chat_row(name))
    await session.flush()


async def count(session: AsyncSession) -> int:
    return int(await session.scalar(text("SELECT count(*) FROM chats")) or 0)


def share_a_transaction(session: Session) -> bool:
    """Return whether two statements belong to one transaction."""
    one, other = (session.scalar(text("SELECT pg_current_xact_id()::text")) for _ in range(2))
    return bool(one == other)


def test_each_statement_of_a_short_read_is_a_transaction_of_its_own(database: str) -> None:
    async def read(session: AsyncSession) -> bool:
        return await session.run_sync(share_a_transaction)

    async def work() -> None:
        async with await Store.open(database) as store:
            assert not await store.read_short(share_a_transaction)
            # The connection is the same one of the pool.
            assert await store.read(read)

    play(work)


def test_two_that_create_the_schema_at_once_share_it(database: str) -> None:
    async def work() -> None:
        one, other = await asyncio.gather(Store.open(database), Store.open(database))
        async with one, other:
            await one.write(lambda session: insert(session, "a"))
            assert await other.read(count) == 1

    play(work)


def test_a_database_of_a_newer_version_is_refused(database: str) -> None:
    async def work() -> None:
        async with await Store.open(database) as store:
            newer = text("UPDATE alembic_version SET version_num = '9999'")
            await store.write(lambda session: session.execute(newer))
        with pytest.raises(DatabaseTooNew, match="9999"):
            await Store.open(database)

    play(work)


def test_a_server_that_does_not_answer_is_named_without_its_password() -> None:
    async def work() -> None:
        for opened in (Store.open(WRONG), server_version(WRONG)):
            with pytest.raises(StoreUnavailable) as caught:
                await opened
            assert caught.value.may_pass
            assert "postgresql://tester:***@127.0.0.1:1/nowhere" in str(caught.value)
            assert "s3cret" not in str(caught.value)

    play(work)


def test_the_version_and_the_size_come_from_the_server(database: str) -> None:
    async def work() -> None:
        assert int((await server_version(database)).split(".")[0]) >= 13
        async with await Store.open(database) as store:
            assert await store.size() > 1_000_000

    play(work)


def test_a_row_that_another_transaction_inserts_is_found_in_the_next_attempt(database: str) -> None:
    attempts: list[bool] = []

    async def work() -> None:
        async with await Store.open(database) as store:

            async def once(session: AsyncSession) -> None:
                found = await session.get_one(type(chat_row("a")), "a") if attempts else None
                attempts.append(found is not None)
                if found is None:
                    await insert_elsewhere(store)
                    await insert(session, "a")

            await store.write(once)
            assert await store.read(count) == 1

    async def insert_elsewhere(store: Store) -> None:
        await store.write(lambda session: insert(session, "a"))

    play(work)
    assert attempts == [False, True]


def test_a_name_that_stays_taken_is_a_defect(database: str) -> None:
    async def work() -> None:
        async with await Store.open(database) as store:
            await store.write(lambda session: insert(session, "a"))
            with pytest.raises(Exception, match="pk_chats"):
                await store.write(lambda session: insert(session, "a"))
            assert store.health.fault is None

    play(work)


def test_a_restart_fails_requests_and_costs_no_turn(server: PostgresServer) -> None:
    async def work() -> None:
        async with await Store.open(server.database(), SHORT) as store:
            await store.write(lambda session: insert(session, "before"))
            await asyncio.to_thread(server.stop, "fast")
            # A request fails: the pooled connection first, then a new one.
            for _ in range(2):
                with pytest.raises(StoreUnavailable) as caught:
                    await store.write(lambda session: insert(session, "request"))
                assert caught.value.may_pass
            with pytest.raises(StoreUnavailable):
                await store.read(count)
            assert store.health.fault is not None
            waiting = FakePatience()

            async def patient() -> None:
                with patience(waiting):
                    await store.write(lambda session: insert(session, "turn"))

            turn = asyncio.create_task(patient())
            await waiting.waits.wait()
            assert not turn.done()
            await asyncio.to_thread(server.start)
            await turn
            assert await store.read(count) == 2
            assert store.health.fault is None

    play(work)


def test_the_watch_notices_that_the_server_is_back(server: PostgresServer) -> None:
    async def work() -> None:
        async with await Store.open(server.database(), SHORT) as store:
            watch = asyncio.create_task(store.watch())
            await asyncio.to_thread(server.stop, "fast")
            with pytest.raises(StoreUnavailable):
                await store.read(count)
            await asyncio.to_thread(server.start)
            await store.health.pause(LIMIT)
            assert store.health.fault is None
            watch.cancel()
            await asyncio.gather(watch, return_exceptions=True)

    play(work)
