"""Rows of what people did in runs."""

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.store.schema import ActivityRow, ChatRow

from .activity import Activity


async def insert(session: AsyncSession, chat_id: str, activity: Activity) -> None:
    """Insert an activity; a chat that was deleted meanwhile gets none."""
    if await session.get(ChatRow, chat_id) is not None:
        one = activity
        session.add(
            ActivityRow(chat_id=chat_id, kind=one.kind, by=one.by, text=one.text, at=one.at)
        )
        await session.flush()


async def of_chat(session: AsyncSession, chat_id: str) -> list[Activity]:
    """Return the activities of a chat, oldest first."""
    query = select(ActivityRow).where(ActivityRow.chat_id == chat_id).order_by(ActivityRow.id)
    return [
        Activity(str(row.id), row.kind, row.by, row.text, row.at)
        for row in await session.scalars(query)
    ]
