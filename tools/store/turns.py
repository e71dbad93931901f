"""Queries on the rows of turns: the work on one message, up to the next rest of the chat."""

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from .errors import UnknownRow
from .schema import ChatRow, TurnRow

COMPACT = "compact"
"""Work of a turn that only makes a checkpoint."""


async def begin(session: AsyncSession, chat: ChatRow, now: float) -> TurnRow:
    """Start the next turn of a chat."""
    chat.turn += 1
    turn = TurnRow(
        chat_id=chat.id,
        number=chat.turn,
        status="running",
        started_at=now,
        ended_at=None,
        outcome=None,
        outcome_source=None,
        error=None,
        error_kind=None,
    )
    session.add(turn)
    await session.flush()
    return turn


async def begin_compaction(session: AsyncSession, chat: ChatRow, now: float) -> TurnRow:
    """Start a turn that only makes a checkpoint; the result of the turn before stays that of the
    chat."""
    before = await current(session, chat)
    turn = await begin(session, chat, now)
    turn.work = COMPACT
    if before is not None:
        turn.report, turn.outcome = before.report, before.outcome
        turn.outcome_source = before.outcome_source
    await session.flush()
    return turn


async def current(session: AsyncSession, chat: ChatRow) -> TurnRow | None:
    """Return the newest turn; a chat without messages has none."""
    return await session.run_sync(current_short, chat)


def current_short(session: Session, chat: ChatRow) -> TurnRow | None:
    """Do as `current`, in a thread."""
    query = select(TurnRow).where(TurnRow.chat_id == chat.id, TurnRow.number == chat.turn)
    return session.scalar(query)


async def compacts(session: AsyncSession, chat_id: str) -> bool:
    """Return whether the newest turn of a chat only makes a checkpoint."""
    of_newest = TurnRow.chat_id == ChatRow.id, TurnRow.number == ChatRow.turn
    query = select(TurnRow.work).where(ChatRow.id == chat_id, *of_newest)
    return await session.scalar(query) == COMPACT


async def dropped_thinking(session: AsyncSession) -> int:
    """Return how many thinking blocks the providers have dropped in all turns."""
    return await session.scalar(select(func.sum(TurnRow.dropped_thinking))) or 0


async def running(session: AsyncSession, chat: ChatRow) -> TurnRow:
    """Return the running turn.

    Raises:
        UnknownRow: If the chat is at rest.
    """
    turn = await current(session, chat)
    if turn is None or turn.status != "running":
        raise UnknownRow("running turn", chat.id)
    return turn
