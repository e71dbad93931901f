"""What the store needs of a database."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol, TypeVar

from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from deskhand.tools.store.errors import StoreUnavailable

T = TypeVar("T")


@dataclass(frozen=True)
class DatabaseFault:
    """A failed transaction whose database cannot be used now."""

    error: StoreUnavailable
    is_lock: bool = False
    """True if another process has held the lock of the whole database for too long."""


class Backend(Protocol):
    """Transactions of one database; one that has begun is not cancelled by its callers."""

    errors: tuple[type[Exception], ...]
    """Classes of the errors that ``fault`` judges."""

    def fault(self, error: Exception) -> DatabaseFault | None:
        """Return what an error says about the database; None for a defect of the program."""

    def locked(self, reason: str) -> StoreUnavailable:
        """Return the error of a transaction that is not tried, because the database is locked."""

    def turn(self) -> AbstractAsyncContextManager[None]:
        """Wait for the turn of a writer, where only one may write at a time."""

    async def read(self, work: Callable[[AsyncSession], Awaitable[T]]) -> T:
        """Run ``work`` in a transaction that is never committed."""

    async def read_short(self, work: Callable[[Session], T]) -> T:
        """Run ``work`` as ``read`` does; it does not wait for anything but the database."""

    async def write(self, work: Callable[[AsyncSession], Awaitable[T]]) -> T:
        """Run ``work`` in a transaction that is committed when it returns."""

    async def write_short(self, work: Callable[[Connection], T]) -> T:
        """Run ``work`` as ``write`` does; it does not wait for anything but the database."""

    async def size(self) -> int:
        """Return the bytes that the database takes."""

    async def close(self) -> None:
        """Close the connections, after the transaction that runs."""
