"""Claims of chats: which control plane drives one, under which generation.

A claim raises the generation of its chat. Every write of a turn names the generation under which
the turn runs, so that a control plane which was replaced changes nothing (`StaleDriver`).
"""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.conversation.states import UNFINISHED, ChatState
from deskhand.tools.store import chats
from deskhand.tools.store.errors import StaleDriver, UnknownRow
from deskhand.tools.store.schema import ChatRow
from deskhand.tools.store.tables.shared import PlaneRow

from . import planes


@dataclass(frozen=True)
class Claim:
    """Which control plane drives a chat, under which generation, and the state of the chat."""

    driver: str
    generation: int
    state: ChatState


_DRIVEN = (
    select(ChatRow.generation)
    .where(ChatRow.id == bindparam("of_chat"))
    .with_for_update(key_share=True)
)


def check_driver(connection: Connection, chat_id: str, generation: int) -> None:
    """Lock a chat that is changed; no other transaction changes it before the end.

    Raises:
        UnknownRow: If the chat does not exist.
        StaleDriver: If it is driven under another generation.
    """
    newest = connection.execute(_DRIVEN, {"of_chat": chat_id}).scalar_one_or_none()
    if newest is None:
        raise UnknownRow("chat", chat_id)
    if newest != generation:
        raise StaleDriver(chat_id, generation, newest)


async def claim(
    session: AsyncSession, plane: str, most: int, dead: Collection[str] = ()
) -> dict[str, int]:
    """Make ``plane`` the driver of unfinished chats without a living one; return generations.

    The row of ``plane`` must have been written before. ``dead`` are control planes that have ended,
    whatever their heartbeats are.
    """
    # A subquery and no join: a row that another one has just claimed is judged again when its lock
    # is free, with its new driver, but in a join against the old row of the other table.
    living = planes.living_ids().where(PlaneRow.id.not_in(dead))
    orphans = (
        select(ChatRow.id)
        .where(
            ChatRow.state.in_(UNFINISHED),
            or_(ChatRow.driver.is_(None), ChatRow.driver.not_in(living)),
        )
        .order_by(ChatRow.created_at)
        .limit(most)
        .with_for_update(skip_locked=True)
    )
    claimed = (
        update(ChatRow)
        .where(ChatRow.id.in_(orphans))
        .values(driver=plane, generation=ChatRow.generation + 1, person_since=None)
        .returning(ChatRow.id, ChatRow.generation)
        .execution_options(synchronize_session=False)
    )
    return {row.id: row.generation for row in await session.execute(claimed)}


async def claim_one(session: AsyncSession, plane: str, chat_id: str) -> Claim | None:
    """Claim an unfinished chat, unless it has a living driver; return its claim now.

    None if the chat has nothing to do, or does not exist.
    """
    try:
        row = await chats.locked(session, chat_id)
    except UnknownRow:
        return None
    if row.state not in UNFINISHED:
        return None
    if row.driver is None or row.driver not in await planes.living(session):
        row.driver, row.generation, row.person_since = plane, row.generation + 1, None
        await session.flush()
    return Claim(row.driver, row.generation, ChatState(row.state))


async def driven_by(
    session: AsyncSession, plane: str, chat_id: str | None = None
) -> dict[str, Claim]:
    """Return the unfinished chats that a control plane drives, or one of them, by their ids."""
    query = select(ChatRow.id, ChatRow.generation, ChatRow.state).where(
        ChatRow.driver == plane, ChatRow.state.in_(UNFINISHED)
    )
    if chat_id is not None:
        query = query.where(ChatRow.id == chat_id)
    rows = await session.execute(query)
    return {row.id: Claim(plane, row.generation, ChatState(row.state)) for row in rows}


async def is_driven(session: AsyncSession, chat_id: str, *, besides: str) -> bool:
    """Return whether a living control plane other than ``besides`` drives a chat."""
    return bool(await driven_elsewhere(session, [chat_id], besides=besides))


async def driven_elsewhere(
    session: AsyncSession, chat_ids: Collection[str], *, besides: str
) -> frozenset[str]:
    """Return those of the chats that a living control plane other than ``besides`` drives."""
    query = select(ChatRow.id).where(
        ChatRow.id.in_(chat_ids),
        ChatRow.driver != besides,
        ChatRow.driver.in_(planes.living_ids()),
    )
    return frozenset(await session.scalars(query))


async def undriven(session: AsyncSession, rested_at: float) -> list[ChatRow]:
    """Return the chats at rest that have a desktop and whose control plane does not release it.

    These are those whose last driver is not living, and those that have rested since ``rested_at``.
    """
    query = select(ChatRow).where(
        ChatRow.desktop_id.is_not(None),
        ChatRow.state.not_in(UNFINISHED),
        or_(
            ChatRow.driver.is_(None),
            ChatRow.driver.not_in(planes.living_ids()),
            ChatRow.updated_at <= rested_at,
        ),
    )
    return list(await session.scalars(query.order_by(ChatRow.updated_at, ChatRow.id)))


async def changed_since(
    session: AsyncSession, root_ids: Collection[str], moment: float
) -> frozenset[str]:
    """Return those of the root chats that have changed since a moment, or one below them has."""
    query = select(ChatRow.root_id).where(
        ChatRow.root_id.in_(root_ids), ChatRow.updated_at > moment
    )
    return frozenset(await session.scalars(query))


async def release(session: AsyncSession, plane: str) -> None:
    """Leave the chats of a control plane to the one that claims them next."""
    await session.execute(
        update(ChatRow)
        .where(ChatRow.driver == plane)
        .values(driver=None)
        .execution_options(synchronize_session=False)
    )


async def driven(session: AsyncSession) -> dict[str, int]:
    """Return the number of unfinished chats that each control plane drives."""
    query = (
        select(ChatRow.driver, func.count())
        .where(ChatRow.driver.is_not(None), ChatRow.state.in_(UNFINISHED))
        .group_by(ChatRow.driver)
    )
    return {str(row[0]): row[1] for row in await session.execute(query)}
