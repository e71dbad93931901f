"""Queries on the desktops on nodes: ordered by control planes, moved by the placer that leads.

A state changes only from one that the caller names, so that of two who change it one does. Times
are those of the database.
"""

from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Any

from sqlalchemy import delete, func, insert, select, true, update
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.store import chats
from deskhand.tools.store.errors import UnknownRow
from deskhand.tools.store.tables.base import DatabaseTime, Json
from deskhand.tools.store.tables.desktops import DesktopRow

WANTED, STARTING, READY, ENDING = "wanted", "starting", "ready", "ending"
ENDED, LOST, REFUSED = "ended", "lost", "refused"
LIVING = (WANTED, STARTING, READY, ENDING)
"""States of desktops that take a place, or will."""
PLACED = (STARTING, READY, ENDING)
"""States of desktops that take a place of their node."""
KEPT_SECONDS = 3600.0
"""For which the row of a desktop that is over is kept."""


async def order(
    session: AsyncSession, desktop_id: str, chat_id: str | None, wanted: Json, created_at: float
) -> None:
    """Insert a desktop that is wanted."""
    await session.execute(
        insert(DesktopRow).values(
            id=desktop_id,
            chat_id=chat_id,
            state=WANTED,
            wanted=wanted,
            created_at=created_at,
            changed_at=DatabaseTime(),
        )
    )


async def order_once(
    session: AsyncSession, desktop_id: str, chat_id: str | None, wanted: Json, created_at: float
) -> str:
    """Order a desktop, unless its chat has one with such a display; return the id of the one."""
    if chat_id is not None:
        # Two control planes may be asked for the chat's desktop at once.
        with suppress(UnknownRow):
            await chats.locked(session, chat_id)
        for row in await of_chat(session, chat_id):
            if row.wanted.get("display", True) == wanted.get("display", True):
                return row.id
    await order(session, desktop_id, chat_id, wanted, created_at)
    return desktop_id


async def living(session: AsyncSession) -> Sequence[DesktopRow]:
    """Return all desktops that are not over, the oldest first."""
    query = select(DesktopRow).where(DesktopRow.state.in_(LIVING))
    return (await session.scalars(query.order_by(DesktopRow.created_at, DesktopRow.id))).all()


async def of_chat(session: AsyncSession, chat_id: str) -> Sequence[DesktopRow]:
    """Return the desktops of a chat that are wanted, starting or ready, the oldest first."""
    query = select(DesktopRow).where(
        DesktopRow.chat_id == chat_id, DesktopRow.state.in_((WANTED, STARTING, READY))
    )
    return (await session.scalars(query.order_by(DesktopRow.created_at))).all()


async def get(session: AsyncSession, desktop_id: str) -> DesktopRow | None:
    """Return one desktop, also one that is over."""
    return await session.get(DesktopRow, desktop_id)


async def move(
    session: AsyncSession,
    desktop_id: str,
    before: Collection[str],
    state: str,
    generation: int | None = None,
    **values: Any,
) -> bool:
    """Change the state of a desktop with other columns; return False if it has another state.

    With ``generation`` also if it was started again.
    """
    changed = await session.execute(
        update(DesktopRow)
        .where(
            DesktopRow.id == desktop_id,
            DesktopRow.state.in_(before),
            true() if generation is None else DesktopRow.generation == generation,
        )
        .values(state=state, changed_at=DatabaseTime(), **values)
        .returning(DesktopRow.id)
        .execution_options(synchronize_session=False)
    )
    return changed.one_or_none() is not None


async def begin_start(session: AsyncSession, desktop_id: str, node: str, address: str) -> int:
    """Let a wanted desktop start on a node; return the generation of the attempt, 0 if it is not
    wanted any more."""
    generation = await session.scalar(
        update(DesktopRow)
        .where(DesktopRow.id == desktop_id, DesktopRow.state == WANTED)
        .values(
            state=STARTING,
            node=node,
            address=address,
            reason="",
            full_nodes=None,
            generation=DesktopRow.generation + 1,
            changed_at=DatabaseTime(),
        )
        .returning(DesktopRow.generation)
        .execution_options(synchronize_session=False)
    )
    return generation or 0


async def explain(
    session: AsyncSession, desktop_id: str, reason: str, full_nodes: Sequence[str]
) -> None:
    """Record why a desktop waits, if it still does; the time of its state stays."""
    await session.execute(
        update(DesktopRow)
        .where(DesktopRow.id == desktop_id, DesktopRow.state == WANTED)
        .values(reason=reason, full_nodes=list(full_nodes) or None)
        .execution_options(synchronize_session=False)
    )


async def readdress(session: AsyncSession, desktop_id: str, node: str, address: str) -> bool:
    """Record the new address of a desktop's node; return False if it is not there any more."""
    changed = await session.execute(
        update(DesktopRow)
        .where(DesktopRow.id == desktop_id, DesktopRow.node == node, DesktopRow.state == READY)
        .values(address=address)
        .returning(DesktopRow.id)
        .execution_options(synchronize_session=False)
    )
    return changed.one_or_none() is not None


async def count_by_node(session: AsyncSession) -> dict[str, int]:
    """Return the number of desktops that take a place, by node."""
    query = select(DesktopRow.node, func.count()).where(DesktopRow.state.in_(PLACED))
    found = await session.execute(query.group_by(DesktopRow.node))
    return {node: int(number) for node, number in found}


async def count_waiting(session: AsyncSession) -> int:
    """Return the number of desktops that wait for a place."""
    query = select(func.count()).select_from(DesktopRow).where(DesktopRow.state == WANTED)
    return await session.scalar(query) or 0


async def forget_old(session: AsyncSession) -> None:
    """Delete the rows of desktops that are over since :data:`KEPT_SECONDS`."""
    await session.execute(
        delete(DesktopRow).where(
            DesktopRow.state.not_in(LIVING), DesktopRow.changed_at < DatabaseTime() - KEPT_SECONDS
        )
    )
