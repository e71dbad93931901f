"""Queries on the rows of messages: the history of a chat, its head, and the queue behind it.

A message with a position is part of the history. One without waits in the queue, ordered by its id,
and gets a position when a turn takes it.
"""

import json
from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from deskhand.tools.conversation.conversation import (
    Image,
    Message,
    ToolResult,
    message_from_json,
    message_to_json,
)
from deskhand.tools.conversation.views import MessageView

from . import schema

Json = dict[str, Any]

_MESSAGES = schema.MessageRow.__table__.c
# Built once, as the statements of steps are. Two callers cannot get the same position: the row of
# the chat is locked.
_LAST = select(func.max(_MESSAGES.position)).where(_MESSAGES.chat_id == bindparam("of_chat"))
_APPENDING = (
    insert(schema.MessageRow.__table__)  # type: ignore[arg-type]
    .values(position=func.coalesce(_LAST.scalar_subquery() + 1, 0), after_step=False)
    .returning(_MESSAGES.position)
)


async def history(session: AsyncSession, chat_id: str) -> tuple[Message, ...]:
    """Return the messages of the history, without the queue."""
    query = select(schema.MessageRow).where(
        schema.MessageRow.chat_id == chat_id, schema.MessageRow.position.is_not(None)
    )
    rows = await session.scalars(query.order_by(schema.MessageRow.position))
    return tuple(message_from_json({"role": r.role, "content": r.content}) for r in rows)


async def head(session: AsyncSession, chat_id: str) -> Json | None:
    """Return the head of a chat's prompts; None before its first turn."""
    row = await session.get(schema.ChatHeadRow, chat_id)
    return None if row is None else row.content


async def fixed_head(session: AsyncSession, chat_id: str, content: Json, now: float) -> Json:
    """Return the head of a chat's prompts; ``content`` becomes it if the chat has none yet."""
    row = await session.get(schema.ChatHeadRow, chat_id)
    if row is None:
        row = schema.ChatHeadRow(chat_id=chat_id, content=content, created_at=now)
        session.add(row)
        await session.flush()
    return row.content


async def append(session: AsyncSession, chat_id: str, message: Message, now: float) -> int:
    """Add a message at the end of the history; return its position, counted from 0."""
    # A statement of a connection does not flush the session.
    await session.flush()
    return await session.run_sync(lambda s: append_short(s.connection(), chat_id, message, now))


def append_short(connection: Connection, chat_id: str, message: Message, now: float) -> int:
    """Do as `append`, in a thread."""
    row: Json = {
        "chat_id": chat_id,
        "role": message.role,
        "content": message_to_json(message)["content"],
        "created_at": now,
    }
    position: int = connection.execute(_APPENDING, {**row, "of_chat": chat_id}).scalar_one()
    return position


def as_stored(message: Message) -> Message:
    """Return a message as it is read after it was stored."""
    return message_from_json(json.loads(json.dumps(message_to_json(message))))


async def enqueue(
    session: AsyncSession, chat_id: str, message: Message, now: float, *, after_step: bool = False
) -> None:
    """Add a message at the end of the queue; ``after_step``: a turn at work takes it."""
    row = _row(chat_id, message, now)
    row.after_step = after_step
    session.add(row)
    await session.flush()


async def queue_length(session: AsyncSession, chat_id: str) -> int:
    """Return how many messages wait for their turn."""
    query = select(func.count()).where(
        schema.MessageRow.chat_id == chat_id, schema.MessageRow.position.is_(None)
    )
    return await session.scalar(query) or 0


async def queued(session: AsyncSession) -> int:
    """Return how many messages wait for their turn in all chats."""
    query = select(func.count()).where(schema.MessageRow.position.is_(None))
    return await session.scalar(query) or 0


async def promote(session: AsyncSession, chat_id: str) -> bool:
    """Move the head of the queue to the end of the history; return whether there was one."""
    query = select(schema.MessageRow).where(
        schema.MessageRow.chat_id == chat_id, schema.MessageRow.position.is_(None)
    )
    first = await session.scalar(query.order_by(schema.MessageRow.id).limit(1))
    if first is None:
        return False
    first.position = await session.run_sync(_next_position, chat_id)
    await session.flush()
    return True


def any_after_step(session: Session, chat_id: str) -> bool:
    """Return whether a turn at work has queued messages to take."""
    query = select(schema.MessageRow.id).where(
        schema.MessageRow.chat_id == chat_id,
        schema.MessageRow.position.is_(None),
        schema.MessageRow.after_step,
    )
    return session.scalar(query.limit(1)) is not None


async def promote_after_step(session: AsyncSession, chat_id: str) -> int:
    """Move the queued messages that a turn at work takes into the history; return their number."""
    query = select(schema.MessageRow).where(
        schema.MessageRow.chat_id == chat_id,
        schema.MessageRow.position.is_(None),
        schema.MessageRow.after_step,
    )
    rows = list(await session.scalars(query.order_by(schema.MessageRow.id)))
    for row in rows:
        row.position = await session.run_sync(_next_position, chat_id)
        await session.flush()
    return len(rows)


async def newest_pictures(
    session: AsyncSession, chat_ids: Collection[str], most: int
) -> frozenset[str]:
    """Return the file ids of the newest pictures in the history of each chat, ``most`` of each."""
    found: set[str] = set()
    for chat_id in chat_ids:
        shown = [
            block.file_id
            for message in await history(session, chat_id)
            for outer in message.content
            for block in (outer.content if isinstance(outer, ToolResult) else (outer,))
            if isinstance(block, Image)
        ]
        found.update(shown[-most:])
    return frozenset(found)


async def views(session: AsyncSession, chat_id: str) -> tuple[MessageView, ...]:
    """Return the views of the history, then of the queue."""
    query = select(schema.MessageRow).where(schema.MessageRow.chat_id == chat_id)
    # SQLite sorts NULL before all values, but the queue comes after the history.
    order = (schema.MessageRow.position.is_(None), schema.MessageRow.position, schema.MessageRow.id)
    return tuple(
        MessageView(r.id, r.chat_id, r.position, r.role, tuple(r.content), r.created_at)
        for r in await session.scalars(query.order_by(*order))
    )


def _row(chat_id: str, message: Message, now: float) -> schema.MessageRow:
    content = message_to_json(message)["content"]
    return schema.MessageRow(
        chat_id=chat_id, position=None, role=message.role, content=content, created_at=now
    )


def _next_position(session: Session, chat_id: str) -> int:
    query = select(func.max(schema.MessageRow.position)).where(schema.MessageRow.chat_id == chat_id)
    # Two callers cannot get the same number: the row of the chat is locked.
    last = session.scalar(query)
    return 0 if last is None else last + 1
