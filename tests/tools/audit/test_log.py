import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from deskhand.tools.audit.log import AuditLog
from deskhand.tools.audit.rows import RETENTION_SECONDS, AuditFilter, newest
from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import StoreUnavailable
from tests.tools.store.fakes import database

NOW = 1_700_000_000.0


class Clock:
    """Unix time of a test."""

    now = NOW

    def __call__(self) -> float:
        return self.now


def with_log(tmp_path: Path, work: Callable[[AuditLog, Store, Clock], Awaitable[None]]) -> None:
    async def scenario() -> None:
        store = await Store.open(database(tmp_path / "deskhand.db"))
        clock = Clock()
        try:
            await work(AuditLog(store, "one", clock), store, clock)
        finally:
            await store.close()

    asyncio.run(scenario())


def test_records_are_read_newest_first_in_pages_and_selected(tmp_path: Path) -> None:
    async def work(log: AuditLog, _: Store, clock: Clock) -> None:
        for n in range(5):
            log.note("owner" if n % 2 else "guest", f"a{n}", "d1", {"n": n})
        found = await log.newest(AuditFilter(), 3)
        assert [(one.n, one.event.action) for one in found] == [(5, "a4"), (4, "a3"), (3, "a2")]
        last = found[-1]
        older = AuditFilter(before=(last.event.at, last.writer, last.n))
        assert [one.n for one in await log.newest(older, 3)] == [2, 1]
        clock.now += 1
        await log.record("owner", "b", "d2", {})
        assert [one.n for one in await log.newest(AuditFilter(actor="owner"), 9)] == [6, 4, 2]
        assert [one.n for one in await log.newest(AuditFilter(subject="d2"), 9)] == [6]
        assert [one.n for one in await log.newest(AuditFilter(action="a0"), 9)] == [1]
        assert (await log.verify()).problems == []

    with_log(tmp_path, work)


def test_several_control_planes_write_at_once_each_a_chain_of_its_own(tmp_path: Path) -> None:
    async def work(log: AuditLog, _: Store, clock: Clock) -> None:
        async with await Store.open(database(tmp_path / "deskhand.db")) as other:
            logs = (log, AuditLog(other, "two", clock))

            async def write(one: AuditLog) -> None:
                for n in range(20):
                    await one.record("owner", f"a{n}", "d1", {})

            await asyncio.gather(*map(write, logs))
        verifier = await log.verify()
        assert verifier.problems == []
        assert [(head.writer, head.n) for head in verifier.heads] == [("one", 20), ("two", 20)]

    with_log(tmp_path, work)


def test_a_record_cannot_be_changed_or_removed(tmp_path: Path) -> None:
    async def work(log: AuditLog, store: Store, clock: Clock) -> None:
        clock.now = 4_000_000_000.0
        await log.record("owner", "a", "", {})
        for statement in ("UPDATE audit SET actor = 'x'", "DELETE FROM audit"):

            async def change(session: object, statement: str = statement) -> None:
                await session.execute(text(statement))  # type: ignore[attr-defined]

            with pytest.raises((IntegrityError, StoreUnavailable)):
                await store.write(change)
        assert (await log.verify()).problems == []

    with_log(tmp_path, work)


@pytest.mark.sqlite
def test_a_record_that_was_changed_without_the_triggers_is_found(tmp_path: Path) -> None:
    async def work(log: AuditLog, store: Store, _: Clock) -> None:
        await log.record("owner", "a", "", {})

        async def change(session: object) -> None:
            execute = session.execute  # type: ignore[attr-defined]
            await execute(text("DROP TRIGGER audit_is_not_changed"))
            await execute(text("UPDATE audit SET actor = 'x'"))

        await store.write(change)
        assert (await log.verify()).problems == ["record 1 of one was changed"]

    with_log(tmp_path, work)


def test_records_are_removed_after_400_days_and_the_rest_stays_verifiable(tmp_path: Path) -> None:
    async def work(log: AuditLog, _: Store, clock: Clock) -> None:
        for n in range(3):
            await log.record("owner", f"a{n}", "", {})
        clock.now += RETENTION_SECONDS + 1
        await log.record("owner", "late", "", {})
        assert await log.expire() == 3
        assert [one.event.action for one in await log.newest(AuditFilter(), 9)] == [
            "audit.expired",
            "late",
        ]
        assert (await log.verify()).problems == []
        assert await log.expire() == 0

    with_log(tmp_path, work)


def test_the_newest_record_stays_however_old_it_is(tmp_path: Path) -> None:
    async def work(log: AuditLog, _: Store, clock: Clock) -> None:
        for n in range(2):
            await log.record("owner", f"a{n}", "", {})
        clock.now += 2 * RETENTION_SECONDS
        assert await log.expire() == 1
        assert [one.n for one in await log.newest(AuditFilter(), 9)] == [3, 2]
        assert (await log.verify()).problems == []

    with_log(tmp_path, work)


class ObservedLog(AuditLog):
    """An audit log whose writing a test can await."""

    def __init__(self, store: Store, now: Callable[[], float]) -> None:
        super().__init__(store, "one", now)
        self.flushed = asyncio.Event()

    async def flush(self) -> None:
        await super().flush()
        self.flushed.set()


def test_what_was_noted_is_written_soon_and_equal_events_once(tmp_path: Path) -> None:
    async def work(_: AuditLog, store: Store, clock: Clock) -> None:
        log = ObservedLog(store, clock)
        writing = asyncio.create_task(log.run(collect=0.0))
        for _i in range(3):
            log.note("owner", "desktop.request", "d1")
        async with asyncio.timeout(20):
            await log.flushed.wait()
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
        (found,) = await store.read(lambda session: newest(session, AuditFilter(), 9))
        assert found.event.details == {"times": 3}

    with_log(tmp_path, work)


def test_events_that_find_no_room_are_counted(tmp_path: Path) -> None:
    async def work(log: AuditLog, _: Store, __: Clock) -> None:
        log.limit = 2
        for n in range(5):
            log.note("owner", f"a{n}", "")
        found = await log.newest(AuditFilter(), 9)
        assert [(one.event.action, one.event.details) for one in found] == [
            ("audit.lost", {"times": 3}),
            ("a1", {}),
            ("a0", {}),
        ]
        await log.flush()

    with_log(tmp_path, work)
