"""Sign-ins that have succeeded, as rows of the database, so that each does so once.

A sign-in that was begun is kept by its browser alone (`SignInSecret`): anybody may begin any number
of them, which would fill a table or push out others'. The provider sends a browser back to any of
the control planes of a database, whose clock counts.
"""

from sqlalchemy import delete, insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.store.database import Store
from deskhand.tools.store.tables.base import DatabaseTime, database_time
from deskhand.tools.store.tables.shared import BegunSignInRow
from deskhand.vncbridge.auth.policy import digest


class UsedSignIns:
    """Keeps digests of the states until their sign-ins are over."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def now(self) -> float:
        """Return the time of the database."""
        return await self._store.read(database_time)

    async def use(self, state: str, ends_at: float) -> bool:
        """Keep a sign-in; return False if it was used before."""
        added = insert(BegunSignInRow).values(
            digest=digest(state), ends_at=ends_at, redirect_uri="", onward=""
        )

        async def write(session: AsyncSession) -> None:
            over = BegunSignInRow.ends_at <= DatabaseTime()
            await session.execute(delete(BegunSignInRow).where(over))
            await session.execute(added)

        try:
            await self._store.write(write)
        except IntegrityError:
            return False
        return True
