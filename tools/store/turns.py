"""Queries on the rows of turns: the work on one message, up to the next rest of the chat."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, bindparam, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from deskhand.tools.conversation.views import UsageView

from .errors import UnknownRow
from .schema import ChatRow, TurnRow

Json = dict[str, Any]
TurnColumns = Row[*tuple[Any, ...]]
"""Columns of one turn that a chat's view is made of."""

COMPACT = "compact"
"""Work of a turn that only makes a checkpoint."""

_COLUMNS = TurnRow.__table__.c
_SPENT = (
    *("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"),
    *("dropped_thinking", "thinking_tokens", "cost_usd"),
)
# NULL plus a cost is NULL: one that is not known makes the sum unknown.
_SPENDING = (
    update(TurnRow.__table__)  # type: ignore[arg-type]
    .where(_COLUMNS.chat_id == bindparam("of_chat"), _COLUMNS.number == bindparam("of_number"))
    .values({name: _COLUMNS[name] + bindparam(f"more_{name}") for name in _SPENT})
)

_OF_CHATS = (
    select(
        *(TurnRow.chat_id, TurnRow.number, TurnRow.started_at, TurnRow.ended_at, TurnRow.report),
        *(TurnRow.outcome, TurnRow.outcome_source, TurnRow.error, TurnRow.error_kind),
        *(TurnRow.input_tokens, TurnRow.output_tokens, TurnRow.cache_read_tokens),
        *(TurnRow.cache_write_tokens, TurnRow.dropped_thinking, TurnRow.thinking_tokens),
        *(TurnRow.cost_usd, TurnRow.recording),
    )
    .where(TurnRow.chat_id.in_(bindparam("ids", expanding=True)))
    .order_by(TurnRow.number)
)
"""Columns are read faster than objects."""


@dataclass(frozen=True)
class TurnResult:
    """Work of a turn, and what its last message has come to; ``outcome`` is null before."""

    work: str | None
    report: str
    outcome: str | None
    source: str | None

    @property
    def compacts(self) -> bool:
        """True if the turn only makes a checkpoint."""
        return self.work == COMPACT


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


def set_result(
    connection: Connection, chat_id: str, number: int, report: str, outcome: str, source: str
) -> None:
    """Store the result of a turn whose last message is stored with it."""
    of_turn = _COLUMNS.chat_id == chat_id, _COLUMNS.number == number
    values = {"report": report, "outcome": outcome, "outcome_source": source}
    connection.execute(update(TurnRow).where(*of_turn).values(values))


async def work_and_result(session: AsyncSession, chat_id: str) -> TurnResult:
    """Return the work of a chat's newest turn, and its result if its last message is stored."""
    of_newest = TurnRow.chat_id == ChatRow.id, TurnRow.number == ChatRow.turn
    columns = TurnRow.work, TurnRow.report, TurnRow.outcome, TurnRow.outcome_source
    found = await session.execute(select(*columns).where(ChatRow.id == chat_id, *of_newest))
    return TurnResult(*found.one())


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


def of_chats(session: Session, ids: Sequence[str]) -> dict[str, list[TurnColumns]]:
    """Return the turns of each of the chats that has any, the oldest first."""
    found: dict[str, list[TurnColumns]] = {}
    if not ids:
        return found
    for turn in session.execute(_OF_CHATS, {"ids": ids}):
        found.setdefault(turn.chat_id, []).append(turn)
    return found


def usage_of(turns: Sequence[TurnColumns]) -> UsageView:
    """Return the tokens and the cost of the turns of a chat."""
    return UsageView(
        sum(turn.input_tokens for turn in turns),
        sum(turn.output_tokens for turn in turns),
        sum(turn.cache_read_tokens for turn in turns),
        sum(turn.cache_write_tokens for turn in turns),
        sum(turn.dropped_thinking for turn in turns),
        sum(turn.thinking_tokens for turn in turns),
        _cost(turns),
    )


def _cost(turns: Sequence[TurnColumns]) -> float | None:
    """Return the cost of turns; a turn of an earlier version that used tokens has none."""
    total = 0.0
    for turn in turns:
        if turn.cost_usd is None and (turn.input_tokens or turn.output_tokens):
            return None
        total += turn.cost_usd or 0.0
    return total


def result_of(turns: Sequence[TurnColumns], newest: TurnColumns) -> dict[str, Any]:
    """Return the fields of a chat's view that are those of its turns."""
    # The videos of all turns are listed; the status is that of the newest turn.
    recorded = [turn.recording for turn in turns if turn.recording.get("file_ids")]
    return {
        "started_at": newest.started_at,
        "ended_at": newest.ended_at,
        "report": newest.report,
        "outcome": newest.outcome,
        "outcome_source": newest.outcome_source,
        "last_error": newest.error,
        "last_error_kind": newest.error_kind,
        "recording_status": newest.recording.get("status", "none"),
        "recording_warning": newest.recording.get("warning"),
        "end_reason": newest.recording.get("end_reason"),
        "complete": newest.recording.get("complete"),
        "recording_file_ids": tuple(f for recording in recorded for f in recording["file_ids"]),
        "thumbnail_file_id": recorded[-1].get("thumbnail_file_id") if recorded else None,
    }
