"""Queries on the rows of questions."""

from dataclasses import asdict

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.conversation.question import ALWAYS, ChatQuestion, withdrawn
from deskhand.tools.store.errors import UnknownRow
from deskhand.tools.store.tables.questions import QuestionRow, question_of


async def insert(session: AsyncSession, question: ChatQuestion) -> None:
    """Insert a question."""
    session.add(QuestionRow(**{**asdict(question), "rules": list(question.rules)}))
    await session.flush()


async def save(session: AsyncSession, question: ChatQuestion) -> None:
    """Store how a question was closed, and that its call began."""
    row = await _get(session, question.id)
    row.state, row.answer = question.state.value, question.answer
    row.answered_by, row.closed_at = question.answered_by, question.closed_at
    row.performed_at = question.performed_at
    await session.flush()


async def get(session: AsyncSession, question_id: str) -> ChatQuestion:
    """Return a question, which no other transaction changes before the end.

    Raises:
        UnknownRow: If there is none with this id.
    """
    return question_of(await _get(session, question_id))


async def of_step(session: AsyncSession, step_id: str) -> ChatQuestion | None:
    """Return the question of a step, if its call has asked one."""
    row = await session.scalar(select(QuestionRow).where(QuestionRow.step_id == step_id))
    return None if row is None else question_of(row)


async def newest(session: AsyncSession, chat_id: str, turn: int) -> ChatQuestion | None:
    """Return the open question of a chat, or else the last one that was closed in a turn."""
    query = select(QuestionRow).where(QuestionRow.chat_id == chat_id, QuestionRow.turn == turn)
    found = [question_of(row) for row in await session.scalars(query)]
    return max(found, key=lambda one: (one.is_open, one.asked_at), default=None)


async def continuing(session: AsyncSession, chat_id: str, turn: int) -> dict[str, ChatQuestion]:
    """Return the questions of a turn whose calls can be run again, by the ids of their steps."""
    query = select(QuestionRow).where(QuestionRow.chat_id == chat_id, QuestionRow.turn == turn)
    found = [question_of(row) for row in await session.scalars(query)]
    return {one.step_id: one for one in found if one.may_continue}


async def always_approved(session: AsyncSession, chat_id: str) -> frozenset[str]:
    """Return the rules for which a person has approved all later calls of a chat."""
    query = select(QuestionRow.rules).where(
        QuestionRow.chat_id == chat_id, QuestionRow.answer == ALWAYS
    )
    return frozenset(rule for rules in await session.scalars(query) for rule in rules)


async def withdraw_open(session: AsyncSession, chat_id: str, now: float) -> None:
    """Withdraw the open question of a chat, if it has one."""
    query = select(QuestionRow).where(QuestionRow.chat_id == chat_id, QuestionRow.state == "open")
    for row in list(await session.scalars(query)):
        await save(session, withdrawn(question_of(row), now))


async def _get(session: AsyncSession, question_id: str) -> QuestionRow:
    row = await session.get(QuestionRow, question_id, with_for_update=True)
    if row is None:
        raise UnknownRow("question", question_id)
    return row
