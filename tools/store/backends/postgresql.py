"""PostgreSQL: the database of several control planes.

- Writers do not take turns: READ COMMITTED and a lock on the row of the chat that is changed
  (``SELECT … FOR UPDATE``, or its ``UPDATE`` as the first statement) keep two apart.
- A server that goes away shows in several ways: a pooled connection fails with an error of the
  driver, a new one with a bare ``OSError``. Both are faults that may pass.
- A transaction that another one has ended is repeated at once: a deadlock, or two that insert the
  same row, of which the second finds the row of the first when it is repeated.
- The schema is created and migrated by one control plane at a time: a lock of the whole database
  (``pg_advisory_xact_lock``) is held for as long as that takes.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Self, TypeVar

from alembic.util import CommandError
from sqlalchemy import Connection, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, create_async_engine
from sqlalchemy.orm import Session
from sqlalchemy.pool import NullPool

from deskhand.tools.store.creation.server_creation import migrate_server
from deskhand.tools.store.errors import DatabaseTooNew, StoreUnavailable
from deskhand.tools.store.faults.policy import is_disk_error
from deskhand.tools.store.faults.postgresql import is_conflict, is_unusable

from .port import DatabaseFault

T = TypeVar("T")

DRIVER = "postgresql+asyncpg"
ADVICE = "check that its server runs and accepts the user, or give another DESKHAND_DATABASE"
POOL = 10
"""Connections that are kept; as many again are opened when all are in use."""
WAIT_SECONDS = 10.0
"""Longest wait for a connection of the pool."""
ATTEMPTS = 4
"""Attempts at a transaction that others end; a row that is there in the last one is a defect."""


class PostgresBackend:
    """Implements `Backend` with a server; one for all control planes of a deployment."""

    errors: tuple[type[Exception], ...] = (DBAPIError, PoolTimeout, OSError)

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._reading = engine.execution_options(isolation_level="AUTOCOMMIT")

    @classmethod
    async def open(cls, url: str) -> Self:
        """Connect to the database of a URL ``postgresql://…``; create or migrate its schema.

        Raises:
            DatabaseTooNew: If it is of a newer version.
            StoreUnavailable: If it cannot be reached or migrated.
        """
        backend = cls(_engine(url))
        try:
            async with backend._engine.begin() as connection:
                await connection.run_sync(migrate_server)
        except DatabaseTooNew:
            await backend.close()
            raise
        except (SQLAlchemyError, OSError, CommandError) as error:
            await backend.close()
            raise backend._unavailable(error) from error
        return backend

    async def size(self) -> int:
        """Return the bytes that the database takes on its server."""
        async with self._engine.connect() as connection:
            return int(await connection.scalar(text("SELECT pg_database_size(current_database())")))

    async def close(self) -> None:
        """Close the connections; closing twice is fine."""
        await self._engine.dispose()

    def fault(self, error: Exception) -> DatabaseFault | None:
        """Return what an error says about the database; None for a defect of the program."""
        # A full disk is that of the files which a transaction writes here.
        if isinstance(error, IntegrityError) or is_disk_error(getattr(error, "errno", None)):
            return None
        lost = isinstance(error, DBAPIError) and error.connection_invalidated
        code = _code(error)
        # A deadlock in the last attempt may pass too.
        passes = lost or is_unusable(code) or is_conflict(code)
        return DatabaseFault(self._unavailable(error)) if passes else None

    def locked(self, reason: str) -> StoreUnavailable:
        """Return the error of a transaction that is not tried, because the database is locked."""
        return StoreUnavailable(self._place, reason, may_pass=True, advice=ADVICE)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for nothing: writers work side by side."""
        yield

    async def read(self, work: Callable[[AsyncSession], Awaitable[T]]) -> T:
        """Run ``work`` in a transaction that is never committed."""
        async with self._session() as session:
            return await work(session)

    async def read_short(self, work: Callable[[Session], T]) -> T:
        """Run ``work`` as ``read`` does, without a transaction around its statements.

        It only selects. Beginning and ending a transaction is two round trips, and each statement
        of one sees what is committed when the statement begins, in any case (READ COMMITTED).
        """
        async with AsyncSession(self._reading, expire_on_commit=False) as session:
            return await session.run_sync(work)

    async def write(self, work: Callable[[AsyncSession], Awaitable[T]]) -> T:
        """Run ``work`` in a transaction that is committed when it returns."""

        async def attempt() -> T:
            async with self._session() as session, session.begin():
                return await work(session)

        return await _repeated(attempt)

    async def write_short(self, work: Callable[[Connection], T]) -> T:
        """Run ``work`` as ``write`` does."""

        async def attempt() -> T:
            async with self._engine.begin() as connection:
                return await connection.run_sync(work)

        return await _repeated(attempt)

    def _session(self) -> AsyncSession:
        return AsyncSession(self._engine, expire_on_commit=False)

    @property
    def _place(self) -> str:
        """The URL without its password."""
        return self._engine.url.set(drivername="postgresql").render_as_string(hide_password=True)

    def _unavailable(self, error: Exception) -> StoreUnavailable:
        reason = str(getattr(error, "orig", None) or error) or type(error).__name__
        return StoreUnavailable(self._place, reason, may_pass=True, advice=ADVICE)


async def server_version(url: str) -> str:
    """Return the version of the server of a URL.

    Raises:
        StoreUnavailable: If it cannot be reached.
    """
    backend = PostgresBackend(_engine(url))
    try:
        async with backend._engine.connect() as connection:
            return str(await connection.scalar(text("SHOW server_version")))
    except (SQLAlchemyError, OSError) as error:
        raise backend._unavailable(error) from error
    finally:
        await backend.close()


def single_engine(url: str, name: str) -> AsyncEngine:
    """Return an engine whose connections are closed after use, and have a name on the server.

    Each statement is a transaction of its own.

    Raises:
        StoreUnavailable: If the driver is not installed.
    """
    return _engine(
        url,
        poolclass=NullPool,
        isolation_level="AUTOCOMMIT",
        connect_args={"server_settings": {"application_name": name}},
    )


def _engine(url: str, **options: Any) -> AsyncEngine:
    options = options or {
        "pool_size": POOL,
        "max_overflow": POOL,
        "pool_timeout": WAIT_SECONDS,
    }
    try:
        return create_async_engine(make_url(url).set(drivername=DRIVER), **options)
    except ModuleNotFoundError as error:
        place = make_url(url).render_as_string(hide_password=True)
        advice = "pip install 'deskhand[cluster]'"
        raise StoreUnavailable(place, f"{error.name} is not installed", advice=advice) from error


async def _repeated(attempt: Callable[[], Awaitable[T]]) -> T:
    """Make attempts until no other transaction ends this one."""
    for _ in range(ATTEMPTS - 1):
        try:
            return await attempt()
        except DBAPIError as error:
            if not is_conflict(_code(error)):
                raise
    return await attempt()


def _code(error: Exception) -> str | None:
    """Return the SQLSTATE of an error."""
    return getattr(getattr(error, "orig", None), "sqlstate", None)
