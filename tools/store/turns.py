"""Queries on the rows of turns: the work on one message, up to the next rest of the chat."""

from typing import Any

from sqlalchemy import Connection, bindparam, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from .errors import UnknownRow
from .schema import ChatRow, TurnRow

Json = dict[str, Any]

_TURNS = TurnRow.__table__.c
_SPENT = (
    *("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"),
    *("dropped_thinking", "thinking_tokens", "cost_usd"),
)
# NULL plus a cost is NULL: one that is not known makes the sum unknown.
_SPENDING = (
    update(TurnRow.__table__)  # type: ignore[arg-type]
    .where(_TURNS.chat_id == bindparam("of_chat"), _TURNS.number == bindparam("of_number"))
    .values({name: _TURNS[name] + bindparam(f"more_{name}") for name in _SPENT})
)

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


def add_usage(connection: Connection, chat_id: str, number: int, usage: Json) -> None:
    """Add the tokens and the cost of a request; a cost that is not known makes the sum unknown."""
    more = {f"more_{name}": usage[name] for name in _SPENT}
    connection.execute(_SPENDING, {**more, "of_chat": chat_id, "of_number": number})


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
