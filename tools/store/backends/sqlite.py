"""SQLite: the database of one control plane, a file in its data directory.

- WAL mode (https://www.sqlite.org/wal.html): readers see a snapshot and never wait for a writer,
  and a writer never waits for readers.
- Writers take turns within this process. The lock of the data directory (``data_dir_lock``) keeps
  other control planes out, so that SQLite's own lock is contended only by foreign tools.
- ``synchronous=NORMAL``: a power failure may lose the newest transactions, but never corrupts the
  database. The files that rows name are written before their rows.
- Missing migrations are applied when the database is opened (:mod:`~..creation.migration`).
- Short transactions run in one thread as a whole. A driver for asyncio changes the thread for each
  statement, which takes longer than the statement.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Self, TypeVar

from alembic.util import CommandError
from sqlalchemy import Connection, create_engine, event
from sqlalchemy.exc import OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, create_async_engine
from sqlalchemy.orm import Session

from deskhand.tools.store.creation.creation import migrate
from deskhand.tools.store.creation.migration import migrate_file
from deskhand.tools.store.errors import StoreUnavailable
from deskhand.tools.store.faults.policy import is_disk_fault, is_lock, may_pass

from .port import DatabaseFault

T = TypeVar("T")
PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=NORMAL",
    # SQLite ignores foreign keys unless each connection enables them; deleting a chat relies on
    # them.
    "PRAGMA foreign_keys=ON",
)


class SqliteBackend:
    """Implements `Backend` with a database file."""

    errors: tuple[type[Exception], ...] = (OperationalError, PoolTimeout)

    def __init__(self, engine: AsyncEngine, path: Path, busy: float) -> None:
        self._engine = engine
        self._path = path
        self._writing = asyncio.Lock()
        self._short = create_engine(f"sqlite:///{path}")
        event.listen(self._short, "connect", _pragmas(busy))
        self._thread = ThreadPoolExecutor(1, "store")
        # Apart, as a write waits for the lock of another process.
        self._reader = ThreadPoolExecutor(1, "store-reads")

    @classmethod
    async def open(cls, path: Path, busy: float) -> Self:
        """Open the database file; create it if needed, and migrate it.

        ``busy`` is the time in seconds for which an attempt waits for the lock of another process.

        Raises:
            DatabaseTooNew: If it is of a newer version.
            StoreUnavailable: If it cannot be opened or migrated.
        """
        engine = create_async_engine(f"sqlite+aiosqlite:///{path}")
        event.listen(engine.sync_engine, "connect", _pragmas(busy))
        try:
            # Before SQLite opens the file, which would create it readable for others.
            await asyncio.to_thread(_make_private, path)
            await asyncio.to_thread(migrate_file, path)
            async with engine.begin() as connection:
                await connection.run_sync(migrate)
        except (SQLAlchemyError, sqlite3.Error, OSError, CommandError) as error:
            await engine.dispose()
            raise _unavailable(path, error) from error
        return cls(engine, path, busy)

    async def size(self) -> int:
        """Return the bytes of the file, and of the log of its newest transactions."""
        names = (self._path, self._path.with_name(f"{self._path.name}-wal"))
        return await asyncio.to_thread(
            lambda: sum(path.stat().st_size for path in names if path.exists())
        )

    async def close(self) -> None:
        """Close the connections; closing twice is fine."""
        # Not during a write: its transaction would lose its connection.
        async with self._writing:
            await self._engine.dispose()
            self._short.dispose()
            self._thread.shutdown(wait=False)
            self._reader.shutdown(wait=False)

    def fault(self, error: Exception) -> DatabaseFault:
        """Return what an error says about the database."""
        return DatabaseFault(_unavailable(self._path, error), is_lock(_code(error)))

    def locked(self, reason: str) -> StoreUnavailable:
        """Return the error of a transaction that is not tried, because the database is locked."""
        return StoreUnavailable(self._path, reason, may_pass=True)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for the turn of a writer.

        SQLite refuses a reader's upgrade to a writer when another connection has written since, and
        no busy time-out helps against that.
        """
        async with self._writing:
            yield

    async def read(self, work: Callable[[AsyncSession], Awaitable[T]]) -> T:
        """Run ``work`` in a transaction that is never committed."""
        async with AsyncSession(self._engine, expire_on_commit=False) as session:
            return await work(session)

    async def read_short(self, work: Callable[[Session], T]) -> T:
        """Run ``work`` as ``read`` does, in one thread."""
        with Session(self._short, expire_on_commit=False) as session:
            return await asyncio.get_running_loop().run_in_executor(self._reader, work, session)

    async def write(self, work: Callable[[AsyncSession], Awaitable[T]]) -> T:
        """Run ``work`` in a transaction that is committed when it returns."""
        async with AsyncSession(self._engine, expire_on_commit=False) as session, session.begin():
            return await work(session)

    async def write_short(self, work: Callable[[Connection], T]) -> T:
        """Run ``work`` as ``write`` does, in one thread."""

        def transaction() -> T:
            with self._short.begin() as connection:
                return work(connection)

        return await asyncio.get_running_loop().run_in_executor(self._thread, transaction)


def _unavailable(path: Path, error: Exception) -> StoreUnavailable:
    reason = str(getattr(error, "orig", None) or error)
    passing = isinstance(error, PoolTimeout) or may_pass(_code(error))
    return StoreUnavailable(path, reason, may_pass=passing, by_disk=is_disk_fault(_code(error)))


def _code(error: Exception) -> int | None:
    """Return SQLite's result code of an error, or ``None`` if it has none."""
    return getattr(getattr(error, "orig", None), "sqlite_errorcode", None)


def _pragmas(busy_seconds: float) -> Callable[[Any, object], None]:
    def set_pragmas(connection: Any, _record: object) -> None:
        cursor = connection.cursor()
        for pragma in (*PRAGMAS, f"PRAGMA busy_timeout={round(busy_seconds * 1000)}"):
            cursor.execute(pragma)
        cursor.close()

    return set_pragmas


def _make_private(file: Path) -> None:
    """Create a database file, or make one private: SQLite gives its mode to journal and WAL."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    file.chmod(0o600)
