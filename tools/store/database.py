"""The SQLite database of one data directory: connections, transactions, migrations.

- SQLite in WAL mode (https://www.sqlite.org/wal.html): readers see a snapshot and never wait for a
  writer, and a writer never waits for readers.
- Writers take turns within this process. The lock of the data directory (``data_dir_lock``) keeps
  other control planes out, so that SQLite's own lock is contended only by foreign tools.
- ``synchronous=NORMAL``: a power failure may lose the newest transactions, but never corrupts the
  database. The files that rows name are written before their rows.
- A transaction that has begun runs to its end, even if its caller is cancelled: a cancelled call
  into the driver leaves its connection in an unknown state.
- Missing migrations are applied when the database is opened (:mod:`~.creation.migration`). One of
  a newer version is refused.
- A transaction or a file that finds the disk full is tried again at once, after the reserve was
  released (:mod:`~.faults.reserve`).
- A transaction that fails because of a lock, a full disk or an I/O error is retried with a growing
  delay where its caller has :class:`~.faults.health.Patience`, as the turns of chats have. It
  fails at once for all others, such as HTTP requests. While a fault lasts, :meth:`Store.watch`
  tries to write, so that the end of the fault is noticed although nothing else is written.
"""

import asyncio
import logging
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Self, TypeVar

from alembic.util import CommandError
from sqlalchemy import Connection, create_engine, event, text
from sqlalchemy.exc import OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, create_async_engine
from sqlalchemy.orm import Session

from .creation.creation import migrate
from .creation.migration import migrate_file
from .errors import DiskLow, StoreUnavailable
from .faults.health import DatabaseHealth, current_patience
from .faults.policy import (
    FIRST_DELAY,
    LONGEST_DELAY,
    is_disk_error,
    is_disk_fault,
    is_lock,
    is_log_due,
    may_pass,
    retry_delay,
)
from .faults.reserve import IN_USE, StoreReserve
from .private_file import make_private

log = logging.getLogger(__name__)
T = TypeVar("T")
PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=NORMAL",
    # SQLite ignores foreign keys unless each connection enables them; deleting a chat relies on
    # them.
    "PRAGMA foreign_keys=ON",
)


@dataclass(frozen=True)
class FaultTiming:
    """Times of the behaviour during a fault, in seconds."""

    busy: float = 5.0
    """Time for which one attempt waits for the lock of another process."""
    first_delay: float = FIRST_DELAY
    longest_delay: float = LONGEST_DELAY
    longest_check: float = 5.0
    """Longest delay between two attempts of :meth:`Store.watch`."""
    quiet: float = 10.0
    """Age of the newest commit from which :meth:`Store.check_soon` has an effect."""


class Store:
    """Transactions on the database: many readers, one writer at a time.

    Cancelling a caller takes effect after its transaction has ended. ``read`` and ``write`` raise
    ``StoreUnavailable`` if the disk is full or another process has locked the database, unless the
    caller has patience.
    """

    def __init__(
        self,
        engine: AsyncEngine,
        path: Path,
        timing: FaultTiming,
        reserve: StoreReserve | None = None,
    ) -> None:
        self._engine = engine
        self._path = path
        self._timing = timing
        self._reserve = reserve
        self._writing = asyncio.Lock()
        self._short = create_engine(f"sqlite:///{path}")
        event.listen(self._short, "connect", _pragmas(timing.busy))
        self._thread = ThreadPoolExecutor(1, "store")
        # Apart, as a write waits for the lock of another process.
        self._reader = ThreadPoolExecutor(1, "store-reads")
        self._committed_at = time.monotonic()
        self.commits = 0
        """Transactions that have written."""
        self.health = DatabaseHealth()

    @classmethod
    async def open(
        cls,
        path: Path,
        timing: FaultTiming | None = None,
        reserve: StoreReserve | None = None,
    ) -> Self:
        """Open the database file; create it if needed, and migrate it.

        ``reserve`` is released when the disk is full.

        Raises:
            DatabaseTooNew: If it is of a newer version.
            StoreUnavailable: If it cannot be opened or migrated.
        """
        engine = create_async_engine(f"sqlite+aiosqlite:///{path}")
        timing = timing or FaultTiming()
        event.listen(engine.sync_engine, "connect", _pragmas(timing.busy))
        try:
            # Before SQLite opens the file, which would create it readable for others.
            await asyncio.to_thread(make_private, path)
            await asyncio.to_thread(migrate_file, path)
            async with engine.begin() as connection:
                await connection.run_sync(migrate)
        except (SQLAlchemyError, sqlite3.Error, OSError, CommandError) as error:
            await engine.dispose()
            raise _unavailable(path, error) from error
        return cls(engine, path, timing, reserve)

    async def close(self) -> None:
        """Close the connections; closing twice is fine."""
        # Not during a write: its transaction would lose its connection.
        async with self._writing:
            await self._engine.dispose()
            self._short.dispose()
            self._thread.shutdown(wait=False)
            self._reader.shutdown(wait=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def read(self, work: Callable[[AsyncSession], Awaitable[T]]) -> T:
        """Run ``work`` in a transaction of its own that is never committed."""
        return await self.retried(lambda: uncancelled(self._read(work)))

    async def read_short(self, work: Callable[[Session], T]) -> T:
        """Run ``work`` as ``read`` does, without a change of the thread for each statement."""
        return await self.retried(lambda: uncancelled(self._read_short(work)))

    async def write(self, work: Callable[[AsyncSession], Awaitable[T]]) -> T:
        """Run ``work`` in a transaction that is committed when it returns.

        For a caller with patience ``work`` may run several times; only one run is committed.
        """
        return await self.retried(lambda: uncancelled(self._write(work)))

    async def write_short(self, work: Callable[[Connection], T]) -> T:
        """Run ``work`` as ``write`` does, without a change of the thread for each statement."""
        return await self.retried(lambda: uncancelled(self._write_short(work)))

    async def retried(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Await ``attempt()``, again and again while a caller with patience finds a fault.

        Also for writes to the disk of the database, which fill up with it.
        """
        try:
            return await self._with_reserve(attempt)
        except (StoreUnavailable, OSError) as error:
            patience = current_patience()
            if patience is None or not self._is_worth_waiting(error):
                raise
            newest: Exception = error
        async with patience.waiting():
            for attempts in count(1):
                await self._pause(attempts, newest)
                try:
                    return await self._with_reserve(attempt)
                except (StoreUnavailable, OSError) as error:
                    if not self._is_worth_waiting(error):
                        raise
                    newest = error
        raise AssertionError("the attempts do not end")

    async def _with_reserve(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Await ``attempt()``; where the disk is full, once more without the reserve on it."""
        try:
            return await attempt()
        except (StoreUnavailable, OSError) as error:
            if not await self._is_released(error):
                raise
        return await attempt()

    async def _is_released(self, error: StoreUnavailable | OSError) -> bool:
        if isinstance(error, StoreUnavailable):
            by_disk = error.by_disk
        else:
            by_disk = is_disk_error(error.errno)
        if self._reserve is None or not by_disk:
            return False
        return await asyncio.to_thread(self._reserve.release)

    async def check_room(self) -> None:
        """Check that something new may be stored beside the database.

        Raises:
            DiskLow: If the disk has too little room.
        """
        if self._reserve is None:
            return
        # In a thread: statvfs(2) blocks while a network file system does not respond.
        if refusal := await asyncio.to_thread(lambda reserve: reserve.refusal, self._reserve):
            raise DiskLow(refusal)

    def check_new_work(self) -> None:
        """Check that a new chat may begin: not on the space that is reserved for what runs.

        Raises:
            DiskLow: If the reserve is in use.
        """
        if self._reserve is not None and self._reserve.in_use:
            raise DiskLow(IN_USE)

    def end_waits(self) -> None:
        """Let all transactions fail at once from now on, because the program ends."""
        self.health.end_waits()

    def check_soon(self) -> None:
        """Let :meth:`watch` check the database, unless it was written a moment ago."""
        if time.monotonic() - self._committed_at >= self._timing.quiet:
            self.health.check.set()

    async def watch(self) -> None:
        """Find the end of each fault, and log a fault that lasts once a minute; never return."""
        logged_at: float | None = None
        while True:
            await self._until_suspect()
            began = time.monotonic()
            for attempts in count(1):
                fault = self.health.fault
                if fault is not None and is_log_due(logged_at, time.monotonic()):
                    log.error("the database cannot be written; agents wait for it: %s", fault)
                    logged_at = time.monotonic()
                if fault is not None:
                    delay = retry_delay(
                        attempts, self._timing.first_delay, self._timing.longest_check
                    )
                    await self.health.pause(delay)
                if await self._can_write():
                    break
            if attempts > 1 or fault is not None:
                log.info("the database was written after %.0f s", time.monotonic() - began)

    async def _until_suspect(self) -> None:
        events = (self.health.faulty, self.health.check)
        waits = [asyncio.create_task(event.wait()) for event in events]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)
        self.health.check.clear()

    async def _can_write(self) -> bool:
        # A write that changes nothing is still written to the WAL, so that a full disk is noticed.
        async def touch(session: AsyncSession) -> None:
            await session.execute(text("UPDATE alembic_version SET version_num = version_num"))

        try:
            await uncancelled(self._write(touch))
        except StoreUnavailable:
            return False
        return True

    async def _pause(self, attempts: int, error: Exception) -> None:
        delay = retry_delay(attempts, self._timing.first_delay, self._timing.longest_delay)
        # An error of the file system does not end with the next commit of the database.
        if isinstance(error, StoreUnavailable):
            await self.health.pause(delay)
        else:
            await self.health.delay(delay)
        if self.health.ended:
            raise error

    def _is_worth_waiting(self, error: StoreUnavailable | OSError) -> bool:
        if self.health.ended:
            return False
        if isinstance(error, StoreUnavailable):
            return error.may_pass
        return is_disk_error(error.errno)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (OperationalError, PoolTimeout) as error:
            found = _unavailable(self._path, error)
            if found.may_pass:
                self.health.failed(found, locked=is_lock(_code(error)))
            raise found from error

    async def _read(self, work: Callable[[AsyncSession], Awaitable[T]]) -> T:
        with self._translated():
            async with AsyncSession(self._engine, expire_on_commit=False) as session:
                return await work(session)

    async def _read_short(self, work: Callable[[Session], T]) -> T:
        with self._translated(), Session(self._short, expire_on_commit=False) as session:
            return await asyncio.get_running_loop().run_in_executor(self._reader, work, session)

    async def _write(self, work: Callable[[AsyncSession], Awaitable[T]]) -> T:
        async with (
            self._turn(),
            AsyncSession(self._engine, expire_on_commit=False) as session,
            session.begin(),
        ):
            return await work(session)

    async def _write_short(self, work: Callable[[Connection], T]) -> T:
        def transaction() -> T:
            with self._short.begin() as connection:
                return work(connection)

        async with self._turn():
            return await asyncio.get_running_loop().run_in_executor(self._thread, transaction)

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        asked_at = asyncio.get_running_loop().time()
        # One writer at a time: SQLite refuses a reader's upgrade to a writer when another
        # connection has written since, and no busy time-out helps against that.
        async with self._writing:
            self._refuse_while_locked(asked_at)
            # Within the lock: the next writer must find the fault.
            with self._translated():
                yield
            self._committed_at = time.monotonic()
            self.commits += 1
            self.health.succeeded()

    def _refuse_while_locked(self, asked_at: float) -> None:
        # An attempt that has waited in vain for the lock counts for all that queued behind it.
        # Otherwise each of them would wait for the full time-out, one after the other.
        locked_at, fault = self.health.locked_at, self.health.fault
        if fault is None or locked_at is None:
            return
        if locked_at >= asked_at or self.health.ended:
            raise StoreUnavailable(self._path, fault.reason, may_pass=True)


def _unavailable(path: Path, error: Exception) -> StoreUnavailable:
    reason = str(getattr(error, "orig", None) or error)
    passing = isinstance(error, PoolTimeout) or may_pass(_code(error))
    return StoreUnavailable(path, reason, may_pass=passing, by_disk=is_disk_fault(_code(error)))


def _code(error: Exception) -> int | None:
    """Return SQLite's result code of an error, or ``None`` if it has none."""
    return getattr(getattr(error, "orig", None), "sqlite_errorcode", None)


async def uncancelled(work: Awaitable[T]) -> T:
    """Await ``work`` to its end; cancellations of the caller take effect after that."""
    task = asyncio.ensure_future(work)
    try:
        # The work is a task of its own, which the shield protects from the caller's cancellation.
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            # The caller may be cancelled again: a client leaves, then the server ends.
            with suppress(asyncio.CancelledError):
                await asyncio.wait({task})
        if not task.cancelled():
            # Fetched, or asyncio would log an exception that its caller cannot receive.
            task.exception()
        raise


def _pragmas(busy_seconds: float) -> Callable[[Any, object], None]:
    def set_pragmas(connection: Any, _record: object) -> None:
        cursor = connection.cursor()
        for pragma in (*PRAGMAS, f"PRAGMA busy_timeout={round(busy_seconds * 1000)}"):
            cursor.execute(pragma)
        cursor.close()

    return set_pragmas
