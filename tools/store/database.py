"""The SQLite database of one data directory: connections, transactions, migrations.

- SQLite in WAL mode (https://www.sqlite.org/wal.html): readers see a snapshot and never wait for a
  writer, and a writer never waits for readers.
- Writers take turns within this process. The lock of the data directory (``data_dir_lock``) keeps
  other control planes out, so that SQLite's own lock is contended only by foreign tools.
- ``synchronous=NORMAL``: a power failure may lose the newest transactions, but never corrupts the
  database. The files that rows name are written before their rows.
- A transaction that has begun runs to its end, even if its caller is cancelled. Cancelling a call
  into the driver would leave its connection in an unknown state.
- Alembic applies missing migrations when the database is opened. One of a newer version is refused.
"""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any, Self, TypeVar

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Connection, event
from sqlalchemy.exc import OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, create_async_engine

from .errors import StoreUnavailable

T = TypeVar("T")
MIGRATIONS = Path(__file__).parent / "migrations"
PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=NORMAL",
    "PRAGMA busy_timeout=5000",
    # SQLite ignores foreign keys unless each connection enables them; deleting a chat relies on
    # them.
    "PRAGMA foreign_keys=ON",
)


class Store:
    """Transactions on the database: many readers, one writer at a time.

    Cancelling a caller takes effect after its transaction has ended. ``read`` and ``write`` raise
    ``StoreUnavailable`` if the disk is full or another process has locked the database.
    """

    def __init__(self, engine: AsyncEngine, path: Path) -> None:
        self._engine = engine
        self._path = path
        self._writing = asyncio.Lock()

    @classmethod
    async def open(cls, path: Path) -> Self:
        """Open the database file; create it if needed, and migrate it.

        Raises:
            StoreUnavailable: If it cannot be opened, or is of a newer version.
        """
        engine = create_async_engine(f"sqlite+aiosqlite:///{path}")
        event.listen(engine.sync_engine, "connect", _set_pragmas)
        try:
            # Before SQLite opens the file, which would create it readable for others.
            await asyncio.to_thread(_make_private, path)
            async with engine.begin() as connection:
                await connection.run_sync(migrate)
        except (SQLAlchemyError, sqlite3.Error, OSError, CommandError) as error:
            await engine.dispose()
            raise _unavailable(path, error) from error
        return cls(engine, path)

    async def close(self) -> None:
        """Close the connections; closing twice is fine."""
        # Not during a write: its transaction would lose its connection.
        async with self._writing:
            await self._engine.dispose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def read(self, work: Callable[[AsyncSession], Awaitable[T]]) -> T:
        """Run ``work`` in a transaction of its own that is never committed."""
        return await self._translating(self._read(work))

    async def write(self, work: Callable[[AsyncSession], Awaitable[T]]) -> T:
        """Run ``work`` in a transaction that is committed when it returns."""
        return await self._translating(self._write(work))

    async def _translating(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            return await _uncancelled(work)
        except (OperationalError, PoolTimeout) as error:
            raise _unavailable(self._path, error) from error

    async def _read(self, work: Callable[[AsyncSession], Awaitable[T]]) -> T:
        async with AsyncSession(self._engine, expire_on_commit=False) as session:
            return await work(session)

    async def _write(self, work: Callable[[AsyncSession], Awaitable[T]]) -> T:
        # One writer at a time: SQLite refuses a reader's upgrade to a writer when another
        # connection has written since, and no busy time-out helps against that.
        async with (
            self._writing,
            AsyncSession(self._engine, expire_on_commit=False) as session,
            session.begin(),
        ):
            return await work(session)


def migrate(connection: Connection) -> None:
    """Migrate the schema of the database to the newest revision."""
    config = Config()
    # A percent sign would begin an interpolation of ConfigParser.
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _unavailable(path: Path, error: Exception) -> StoreUnavailable:
    return StoreUnavailable(path, str(getattr(error, "orig", None) or error))


async def _uncancelled(work: Coroutine[Any, Any, T]) -> T:
    task = asyncio.ensure_future(work)
    try:
        # The work is a task of its own, which the shield protects from the caller's cancellation.
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            await asyncio.wait({task})
        if not task.cancelled():
            # Fetched, so that asyncio does not log an exception that the cancelled caller cannot
            # receive.
            task.exception()
        raise


def _make_private(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # SQLite creates its journal and WAL with the mode of the database file.
    path.touch()
    path.chmod(0o600)


def _set_pragmas(connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    for pragma in PRAGMAS:
        cursor.execute(pragma)
    cursor.close()
