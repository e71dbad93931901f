"""Queries on the nodes: what the placer that leads has seen of them, and what operators decide."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.store.tables.base import DatabaseTime
from deskhand.tools.store.tables.desktops import NodeRow


async def every(session: AsyncSession) -> Sequence[NodeRow]:
    """Return all nodes, by their names."""
    return (await session.scalars(select(NodeRow).order_by(NodeRow.name))).all()


async def seen(session: AsyncSession, name: str, **values: Any) -> None:
    """Record that a node has answered, with its columns; the first time makes the row."""
    changed = await session.execute(
        update(NodeRow)
        .where(NodeRow.name == name)
        .values(seen_at=DatabaseTime(), **values)
        .returning(NodeRow.name)
        .execution_options(synchronize_session=False)
    )
    if changed.one_or_none() is None:
        await session.execute(insert(NodeRow).values(name=name, seen_at=DatabaseTime(), **values))


async def change(session: AsyncSession, name: str, **values: Any) -> bool:
    """Change columns of a node; return False if there is none of this name."""
    changed = await session.execute(
        update(NodeRow)
        .where(NodeRow.name == name)
        .values(**values)
        .returning(NodeRow.name)
        .execution_options(synchronize_session=False)
    )
    return changed.one_or_none() is not None


async def count_failure(session: AsyncSession, name: str, count: int) -> None:
    """Record how many starts have failed in a row; of those that failed at once the last counts."""
    await session.execute(
        update(NodeRow)
        .where(NodeRow.name == name, NodeRow.failures < count)
        .values(failures=count)
        .execution_options(synchronize_session=False)
    )


async def mark(session: AsyncSession, name: str, reason: str) -> None:
    """Record why a node gets no desktops, unless it is refused: that reason stays until its end."""
    await session.execute(
        update(NodeRow)
        .where(NodeRow.name == name, NodeRow.refused_until <= DatabaseTime())
        .values(reason=reason)
        .execution_options(synchronize_session=False)
    )


async def refuse_for(session: AsyncSession, name: str, seconds: float, reason: str) -> None:
    """Give a node no desktops for so long, because its starts have failed."""
    await session.execute(
        update(NodeRow)
        .where(NodeRow.name == name)
        .values(refused_until=DatabaseTime() + seconds, reason=reason)
        .execution_options(synchronize_session=False)
    )


async def forget(session: AsyncSession, name: str) -> None:
    """Delete a node."""
    await session.execute(delete(NodeRow).where(NodeRow.name == name))
