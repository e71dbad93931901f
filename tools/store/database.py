"""The SQLite database of one data directory, brought up to date when it is opened."""

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
    "PRAGMA foreign_keys=ON",
)


class Store:
    """Transactions on the database: many readers, one writer at a time.

    Cancelling the caller never cuts a transaction in half: it is ended first. Both ways raise
    ``StoreUnavailable`` where the disk is full or another process holds the database.
    """

    def __init__(self, engine: AsyncEngine, path: Path) -> None:
        self._engine = engine
        self._path = path
        self._writing = asyncio.Lock()

    @classmethod
    async def open(cls, path: Path) -> Self:
        """Open the database file, create it if needed and migrate it.

        Raises:
            StoreUnavailable: If it cannot be opened, or is from a newer version.
        """
        engine = create_async_engine(f"sqlite+aiosqlite:///{path}")
        event.listen(engine.sync_engine, "connect", _set_pragmas)
        try:
            await asyncio.to_thread(_make_private, path)
            async with engine.begin() as connection:
                await connection.run_sync(migrate)
        except (SQLAlchemyError, sqlite3.Error, OSError, CommandError) as error:
            await engine.dispose()
            raise _unavailable(path, error) from error
        return cls(engine, path)

    async def close(self) -> None:
        """Close the connections; closing twice is fine."""
        async with self._writing:
            await self._engine.dispose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def read(self, work: Callable[[AsyncSession], Awaitable[T]]) -> T:
        """Run ``work`` in a transaction of its own that changes nothing."""
        return await self._told(self._read(work))

    async def write(self, work: Callable[[AsyncSession], Awaitable[T]]) -> T:
        """Run ``work`` in a transaction that is committed when it returns."""
        return await self._told(self._write(work))

    async def _told(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            return await _to_the_end(work)
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
    """Bring the schema behind ``connection`` up to the newest revision."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _unavailable(path: Path, error: Exception) -> StoreUnavailable:
    return StoreUnavailable(path, str(getattr(error, "orig", None) or error))


async def _to_the_end(work: Coroutine[Any, Any, T]) -> T:
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            await asyncio.wait({task})
        if not task.cancelled():
            task.exception()
        raise


def _make_private(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # SQLite gives its journal the same mode.
    path.touch()
    path.chmod(0o600)


def _set_pragmas(connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    for pragma in PRAGMAS:
        cursor.execute(pragma)
    cursor.close()
