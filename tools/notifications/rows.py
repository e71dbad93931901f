"""Queries on the rows of events that wait to be sent; a row is removed when that is over."""

from dataclasses import asdict, replace

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.store.schema import NotificationRow
from deskhand.tools.store.tables.questions import QuestionRow

from .notification import Notification


async def insert(session: AsyncSession, notification: Notification) -> None:
    """Insert an event, in the transaction of what it reports."""
    session.add(NotificationRow(**asdict(notification)))
    await session.flush()


async def first(session: AsyncSession) -> Notification | None:
    """Return the event whose attempt comes next, without those of questions that are closed."""
    asked = select(QuestionRow.id).where(QuestionRow.state == "open")
    closed = NotificationRow.question_id.is_not(None) & NotificationRow.question_id.not_in(asked)
    query = select(NotificationRow).where(~closed).order_by(NotificationRow.next_at)
    row = await session.scalar(query.limit(1))
    if row is None:
        return None
    return Notification(
        row.id, row.chat_id, row.question_id, row.body, row.created_at, row.attempts, row.next_at
    )


async def remove(session: AsyncSession, notification: Notification) -> None:
    """Remove an event that was sent, or is given up."""
    await session.execute(delete(NotificationRow).where(NotificationRow.id == notification.id))


async def remove_closed(session: AsyncSession) -> None:
    """Remove the events of questions that were closed before they could be sent."""
    asked = select(QuestionRow.id).where(QuestionRow.state == "open")
    closed = NotificationRow.question_id.is_not(None) & NotificationRow.question_id.not_in(asked)
    await session.execute(delete(NotificationRow).where(closed))


async def postpone(session: AsyncSession, notification: Notification, until: float) -> None:
    """Count a failed attempt, and set the time of the next one."""
    row = await session.get(NotificationRow, notification.id)
    # The chat may have been deleted meanwhile.
    if row is not None:
        later = replace(notification, attempts=notification.attempts + 1, next_at=until)
        row.attempts, row.next_at = later.attempts, later.next_at
