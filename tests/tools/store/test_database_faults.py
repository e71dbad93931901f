"""Transactions while another process holds the lock, or the disk is full."""

import asyncio
import errno
import logging
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.store.database import FaultTiming, Store
from deskhand.tools.store.errors import StoreUnavailable
from deskhand.tools.store.faults.health import patience
from tests.tools.store.fakes import FakePatience, chat_row, database

pytestmark = pytest.mark.sqlite

LIMIT = 20.0
SHORT = FaultTiming(busy=0.01, first_delay=0.01, longest_delay=0.02, longest_check=0.01, quiet=0.0)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    connection = sqlite3.connect(folder / "deskhand.db", isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")
        connection.close()


async def _add(session: AsyncSession, chat_id: str) -> None:
    session.add(chat_row(chat_id))
    await session.flush()


async def _write_patiently(store: Store, found: FakePatience, chat_id: str) -> None:
    with patience(found):
        await store.write(lambda session: _add(session, chat_id))


async def _count(session: AsyncSession) -> int:
    return int(await session.scalar(text("SELECT count(*) FROM chats")) or 0)


def test_without_patience_a_lock_is_an_error_that_may_pass(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with await Store.open(database(tmp_path / "deskhand.db"), SHORT) as store:
            with locked(tmp_path), pytest.raises(StoreUnavailable, match="locked") as caught:
                await store.write(lambda session: _add(session, "a"))
            assert caught.value.may_pass
            assert store.health.fault is not None
            await store.write(lambda session: _add(session, "a"))
            assert store.health.fault is None

    asyncio.run(scenario())


def test_with_patience_the_transaction_is_committed_once_after_the_lock(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with await Store.open(database(tmp_path / "deskhand.db"), SHORT) as store:
            found = FakePatience()
            with locked(tmp_path):
                write = asyncio.create_task(_write_patiently(store, found, "a"))
                await found.waits.wait()
                assert not write.done()
            async with asyncio.timeout(LIMIT):
                await write
            assert found.waiting_now == 0
            assert await store.read(_count) == 1

    asyncio.run(scenario())


def test_a_defect_is_not_waited_for(tmp_path: Path) -> None:
    async def wrong(session: AsyncSession) -> None:
        await session.execute(text("SELECT * FROM no_such_table"))

    async def scenario() -> None:
        async with await Store.open(database(tmp_path / "deskhand.db"), SHORT) as store:
            with patience(FakePatience()), pytest.raises(StoreUnavailable) as caught:
                await store.write(wrong)
            assert not caught.value.may_pass
            assert store.health.fault is None

    asyncio.run(scenario())


def test_a_defect_in_a_later_attempt_ends_the_wait(tmp_path: Path) -> None:
    async def scenario() -> None:
        failures = [OSError(errno.ENOSPC, "full"), OSError(errno.ENOENT, "no such file")]

        async def attempt() -> None:
            raise failures.pop(0)

        async with await Store.open(database(tmp_path / "deskhand.db"), SHORT) as store:
            with patience(FakePatience()), pytest.raises(FileNotFoundError):
                await store.retried(attempt)

    asyncio.run(scenario())


def test_a_full_disk_is_waited_for_also_by_files(tmp_path: Path) -> None:
    async def scenario() -> None:
        failures = [OSError(errno.ENOSPC, "full"), OSError(errno.EIO, "bad sector")]

        async def attempt() -> str:
            if failures:
                raise failures.pop()
            return "stored"

        async with await Store.open(database(tmp_path / "deskhand.db"), SHORT) as store:
            with patience(FakePatience()):
                assert await store.retried(attempt) == "stored"
            failures.append(OSError(errno.ENOSPC, "full"))
            with pytest.raises(OSError, match="full"):
                await store.retried(attempt)

    asyncio.run(scenario())


def test_a_cancelled_wait_writes_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with await Store.open(database(tmp_path / "deskhand.db"), SHORT) as store:
            found = FakePatience()
            with locked(tmp_path):
                write = asyncio.create_task(_write_patiently(store, found, "a"))
                await found.waits.wait()
                write.cancel()
                await asyncio.gather(write, return_exceptions=True)
            assert write.cancelled()
            assert found.waiting_now == 0
            assert await store.read(_count) == 0

    asyncio.run(scenario())


def test_the_end_of_the_program_ends_all_waits(tmp_path: Path) -> None:
    async def scenario() -> None:
        timing = FaultTiming(busy=0.01, first_delay=3600.0, longest_delay=3600.0)
        async with await Store.open(database(tmp_path / "deskhand.db"), timing) as store:
            found = FakePatience()
            with locked(tmp_path):
                write = asyncio.create_task(_write_patiently(store, found, "a"))
                await found.waits.wait()
                store.end_waits()
                async with asyncio.timeout(LIMIT):
                    with pytest.raises(StoreUnavailable):
                        await write
                    # Later writes do not wait for the lock once more.
                    with pytest.raises(StoreUnavailable, match="locked"):
                        await _write_patiently(store, found, "b")

    asyncio.run(scenario())


def test_one_attempt_at_a_lock_counts_for_all_that_queued_behind_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        tried: list[str] = []

        async def add(session: AsyncSession, chat_id: str) -> None:
            tried.append(chat_id)
            await _add(session, chat_id)

        async with await Store.open(database(tmp_path / "deskhand.db"), SHORT) as store:
            with locked(tmp_path):
                failures = await asyncio.gather(
                    *(
                        store.write(lambda session, name=name: add(session, name))  # type: ignore[misc]
                        for name in "abcdef"
                    ),
                    return_exceptions=True,
                )
            assert [type(failure) for failure in failures] == [StoreUnavailable] * 6
            assert tried == ["a"]

    asyncio.run(scenario())


def test_watching_finds_the_end_of_a_fault_that_nothing_else_would_find(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        async with await Store.open(database(tmp_path / "deskhand.db"), SHORT) as store:
            watching = asyncio.create_task(store.watch())
            with locked(tmp_path):
                with pytest.raises(StoreUnavailable):
                    await store.write(lambda session: _add(session, "a"))
                assert store.health.fault is not None
            async with asyncio.timeout(LIMIT):
                await store.health.pause(LIMIT)
            assert store.health.fault is None
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)

    with caplog.at_level(logging.INFO):
        asyncio.run(scenario())
    messages = [r.message for r in caplog.records if r.levelno == logging.ERROR]
    assert len(messages) == 1
    assert "the database cannot be written; agents wait for it" in messages[0]


def test_a_check_finds_a_fault_of_an_idle_database(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with await Store.open(database(tmp_path / "deskhand.db"), SHORT) as store:
            watching = asyncio.create_task(store.watch())
            with locked(tmp_path):
                store.check_soon()
                async with asyncio.timeout(LIMIT):
                    await store.health.faulty.wait()
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)

    asyncio.run(scenario())


def test_a_database_that_was_just_written_is_not_checked(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with await Store.open(database(tmp_path / "deskhand.db")) as store:
            store.check_soon()
            assert not store.health.check.is_set()

    asyncio.run(scenario())
