"""Sign-ins that browsers have begun, as rows of the database.

The provider sends a browser back to any of the control planes of a database. Taking a sign-in is
one statement, so that of several at once one gets it. They end by the clock of the database.
"""

from dataclasses import dataclass

from sqlalchemy import delete, insert, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.store.database import Store
from deskhand.tools.store.tables.base import DatabaseTime
from deskhand.tools.store.tables.shared import BegunSignInRow
from deskhand.vncbridge.auth.policy import digest

MOST_BEGUN = 10_000
"""Sign-ins that wait; the oldest ends when there is one more."""
LONGEST_ONWARD = 2_000
"""Characters of the page that follows; in place of one with more comes the first page."""


@dataclass(frozen=True)
class BegunSignIn:
    """A sign-in that a browser has begun."""

    redirect_uri: str
    onward: str
    """The page that was requested, as a path of this service."""


class BegunSignIns:
    """Keeps the sign-ins that wait for the provider, by digests of their states."""

    def __init__(self, store: Store, seconds: float, most: int = MOST_BEGUN) -> None:
        """Keep at most ``most`` sign-ins, each for ``seconds``."""
        self._store = store
        self._seconds = seconds
        self._most = most

    async def add(self, state: str, begun: BegunSignIn) -> None:
        """Keep a sign-in, and remove those that are over or too many."""
        ends = BegunSignInRow.ends_at
        newest_first = select(BegunSignInRow.digest).order_by(ends.desc(), BegunSignInRow.digest)
        # Rows that another control plane removes at this moment are left to it.
        gone = (
            select(BegunSignInRow.digest)
            .where(
                or_(
                    ends <= DatabaseTime(),
                    BegunSignInRow.digest.in_(newest_first.offset(self._most - 1)),
                )
            )
            .with_for_update(skip_locked=True)
        )
        added = insert(BegunSignInRow).values(
            digest=digest(state),
            ends_at=DatabaseTime() + self._seconds,
            redirect_uri=begun.redirect_uri,
            onward=_kept(begun.onward),
        )

        async def write(session: AsyncSession) -> None:
            await session.execute(delete(BegunSignInRow).where(BegunSignInRow.digest.in_(gone)))
            await session.execute(added)

        await self._store.write(write)

    async def take(self, state: str) -> BegunSignIn | None:
        """Remove a sign-in and return it; None if it is unknown, used or over."""
        taken = (
            delete(BegunSignInRow)
            .where(BegunSignInRow.digest == digest(state), BegunSignInRow.ends_at > DatabaseTime())
            .returning(BegunSignInRow.redirect_uri, BegunSignInRow.onward)
        )

        async def write(session: AsyncSession) -> BegunSignIn | None:
            row = (await session.execute(taken)).one_or_none()
            return None if row is None else BegunSignIn(row.redirect_uri, row.onward)

        return await self._store.write(write)


def _kept(onward: str) -> str:
    # PostgreSQL stores no text with the character 0, which no page has in its path.
    return onward if len(onward) <= LONGEST_ONWARD and onward.isprintable() else ""
