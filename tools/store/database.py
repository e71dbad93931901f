"""The database: transactions, and what happens when they fail.

- A transaction that has begun runs to its end, even if its caller is cancelled: a cancelled call
  into the driver leaves its connection in an unknown state.
- A transaction or a file that finds the disk full is tried again at once, after the reserve was
  released (:mod:`~.faults.reserve`).
- A transaction that fails because of a lock, a full disk, an I/O error or a lost connection is
  retried with a growing delay where its caller has :class:`~.faults.health.Patience`, as the turns
  of chats have. It fails at once for all others, such as HTTP requests. While a fault lasts,
  :meth:`Store.watch` tries to write, so that the end of the fault is noticed although nothing else
  is written.

What is particular to SQLite, or to PostgreSQL, is in :mod:`~.backends`.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Self, TypeVar

from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from .backends.port import Backend
from .backends.postgresql import PostgresBackend
from .backends.sqlite import SqliteBackend
from .errors import DiskLow, StoreUnavailable
from .faults.health import DatabaseHealth, current_patience
from .faults.policy import FIRST_DELAY, LONGEST_DELAY, is_disk_error, is_log_due, retry_delay
from .faults.reserve import IN_USE, StoreReserve

log = logging.getLogger(__name__)
T = TypeVar("T")


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
    """Transactions on the database.

    Cancelling a caller takes effect after its transaction has ended. ``read`` and ``write`` raise
    ``StoreUnavailable`` if the database cannot be used, as with a full disk, unless the caller has
    patience.
    """

    def __init__(
        self, backend: Backend, timing: FaultTiming, reserve: StoreReserve | None = None
    ) -> None:
        self._backend = backend
        self._timing = timing
        self._reserve = reserve
        self._committed_at = time.monotonic()
        self.commits = 0
        """Transactions that have written."""
        self.health = DatabaseHealth()

    @classmethod
    async def open(
        cls,
        place: Path | str,
        timing: FaultTiming | None = None,
        reserve: StoreReserve | None = None,
    ) -> Self:
        """Open the database of a path, or of a URL ``postgresql://…``; create or migrate it.

        ``reserve`` is released when the disk is full.

        Raises:
            DatabaseTooNew: If it is of a newer version.
            StoreUnavailable: If it cannot be opened or migrated.
        """
        timing = timing or FaultTiming()
        if isinstance(place, str):
            return cls(await PostgresBackend.open(place), timing, reserve)
        return cls(await SqliteBackend.open(place, timing.busy), timing, reserve)

    async def size(self) -> int:
        """Return the bytes that the database takes."""
        with self._translated():
            return await self._backend.size()

    async def close(self) -> None:
        """Close the connections; closing twice is fine."""
        await self._backend.close()

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
        except self._backend.errors as error:
            fault = self._backend.fault(error)
            if fault is None:
                raise
            if fault.error.may_pass:
                self.health.failed(fault.error, locked=fault.is_lock)
            raise fault.error from error

    async def _read(self, work: Callable[[AsyncSession], Awaitable[T]]) -> T:
        with self._translated():
            return await self._backend.read(work)

    async def _read_short(self, work: Callable[[Session], T]) -> T:
        with self._translated():
            return await self._backend.read_short(work)

    async def _write(self, work: Callable[[AsyncSession], Awaitable[T]]) -> T:
        async with self._turn():
            return await self._backend.write(work)

    async def _write_short(self, work: Callable[[Connection], T]) -> T:
        async with self._turn():
            return await self._backend.write_short(work)

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        asked_at = asyncio.get_running_loop().time()
        async with self._backend.turn():
            self._refuse_while_locked(asked_at)
            # Within the turn: the next writer must find the fault.
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
            raise self._backend.locked(fault.reason)


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
