"""Queries on the rows of control planes: a heartbeat each, by the clock of the database."""

from sqlalchemy import Select, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.store.backends.plane_lock import UNLOCKED
from deskhand.tools.store.schema import ChatRow
from deskhand.tools.store.tables.base import DatabaseTime
from deskhand.tools.store.tables.shared import PlaneRow

BEAT_SECONDS = 2.0
"""Between two heartbeats of a control plane."""
DEAD_SECONDS = 10.0
"""Age of the newest heartbeat from which a control plane is dead."""
KEPT_SECONDS = 86_400.0
"""Age of it from which the row is deleted."""


def living_ids() -> Select[str]:
    """Return the query for the ids of the living control planes."""
    return select(PlaneRow.id).where(PlaneRow.beat_at > DatabaseTime() - DEAD_SECONDS)


async def unlocked(session: AsyncSession) -> frozenset[str]:
    """Return the control planes that hold no lock; none where the database is a file."""
    if session.get_bind().dialect.name != "postgresql":
        return frozenset()
    return frozenset(await session.scalars(UNLOCKED))


async def beat(session: AsyncSession, plane: str, address: str) -> None:
    """Record a heartbeat; the first one makes the row, and deletes those that are old."""
    now = DatabaseTime()
    changed = update(PlaneRow).where(PlaneRow.id == plane).values(beat_at=now, address=address)
    found = await session.execute(changed.returning(PlaneRow.id))
    if found.one_or_none() is None:
        await session.execute(insert(PlaneRow).values(id=plane, address=address, beat_at=now))
        await _forget_old(session)


async def _forget_old(session: AsyncSession) -> None:
    """Delete the control planes that were killed long ago: each start has another id."""
    old = delete(PlaneRow).where(PlaneRow.beat_at < DatabaseTime() - KEPT_SECONDS)
    gone = (await session.scalars(old.returning(PlaneRow.id))).all()
    if gone:
        # Their chats wait for a driver, as those that were left in order.
        await session.execute(
            update(ChatRow)
            .where(ChatRow.driver.in_(gone))
            .values(driver=None)
            .execution_options(synchronize_session=False)
        )


async def leave(session: AsyncSession, plane: str) -> None:
    """Remove the row of a control plane that ends."""
    await session.execute(delete(PlaneRow).where(PlaneRow.id == plane))


async def leave_all(session: AsyncSession) -> None:
    """Remove the rows of all control planes, which have ended."""
    await session.execute(delete(PlaneRow))


async def living(session: AsyncSession) -> dict[str, str]:
    """Return the addresses of the living control planes by their ids."""
    query = select(PlaneRow.id, PlaneRow.address).where(
        PlaneRow.beat_at > DatabaseTime() - DEAD_SECONDS
    )
    return {row.id: row.address for row in await session.execute(query.order_by(PlaneRow.id))}
