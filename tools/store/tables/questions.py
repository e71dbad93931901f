"""The table of questions, and the questions of its rows."""

from collections.abc import Sequence
from typing import cast

from sqlalchemy import JSON, ForeignKey, Index, UniqueConstraint, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from deskhand.tools.conversation.question import ChatQuestion, QuestionKind, QuestionState

from .base import Base, Json, rows_where


class QuestionRow(Base):
    """A question of a chat to people, see ``deskhand.tools.conversation.question``."""

    __tablename__ = "questions"
    __table_args__ = (
        UniqueConstraint("step_id"),
        Index("ix_questions_chat_id", "chat_id"),
        # A second open question of a chat would have no place in its state.
        Index("ix_questions_open", "chat_id", unique=True, **rows_where("state = 'open'")),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    chat_id: Mapped[str] = mapped_column(ForeignKey("chats.id", ondelete="CASCADE"))
    turn: Mapped[int]
    step_id: Mapped[str]
    call_id: Mapped[str]
    kind: Mapped[str]
    text: Mapped[str]
    picture: Mapped[str | None]
    """File id; no key, as a question outlives a removed picture."""
    call: Mapped[Json | None] = mapped_column(JSON(none_as_null=True))
    rules: Mapped[list[str]] = mapped_column(JSON)
    asked_at: Mapped[float]
    deadline: Mapped[float | None]
    state: Mapped[str]
    """``open``, ``answered``, ``expired`` or ``withdrawn``."""
    answer: Mapped[str | None]
    answered_by: Mapped[str | None]
    closed_at: Mapped[float | None]
    performed_at: Mapped[float | None]


def question_of(row: QuestionRow) -> ChatQuestion:
    """Return the question of a row."""
    return ChatQuestion(
        id=row.id,
        chat_id=row.chat_id,
        turn=row.turn,
        step_id=row.step_id,
        call_id=row.call_id,
        kind=cast(QuestionKind, row.kind),
        text=row.text,
        asked_at=row.asked_at,
        deadline=row.deadline,
        picture=row.picture,
        call=row.call,
        rules=tuple(row.rules),
        state=QuestionState(row.state),
        answer=row.answer,
        answered_by=row.answered_by,
        closed_at=row.closed_at,
        performed_at=row.performed_at,
    )


def open_questions(session: Session, ids: Sequence[str]) -> dict[str, ChatQuestion]:
    """Return the open question of each of the chats that has one."""
    if not ids:
        return {}
    query = select(QuestionRow).where(QuestionRow.chat_id.in_(ids), QuestionRow.state == "open")
    return {row.chat_id: question_of(row) for row in session.scalars(query)}
