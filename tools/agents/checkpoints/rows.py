"""Rows of checkpoints, and the steps that show them."""

import uuid

from sqlalchemy import Connection, select
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.conversation.views import StepView
from deskhand.tools.store import chats, steps
from deskhand.tools.store.schema import CheckpointRow

from .checkpoint import Checkpoint, checkpoint_from_json

TOOL = "checkpoint"
"""Name of the steps."""


async def newest(session: AsyncSession, chat_id: str) -> Checkpoint | None:
    """Return the newest checkpoint of a chat."""
    query = select(CheckpointRow).where(CheckpointRow.chat_id == chat_id)
    row = await session.scalar(query.order_by(CheckpointRow.id.desc()).limit(1))
    return None if row is None else checkpoint_from_json(row.content)


async def begin(session: AsyncSession, chat_id: str, reason: str, now: float) -> StepView:
    """Insert the running step of a checkpoint."""
    turn = (await chats.get(session, chat_id)).turn

    def work(connection: Connection) -> StepView:
        return steps.begin(
            connection,
            chat_id,
            turn,
            tool_call_id=f"checkpoint_{uuid.uuid4().hex}",
            tool=TOOL,
            title=f"Checkpoint at {reason}",
            action=None,
            arguments={"reason": reason},
            now=now,
        )

    return await (await session.connection()).run_sync(work)


async def end(
    session: AsyncSession, step_id: str, ended: steps.StepEnd, made: Checkpoint | None
) -> StepView:
    """End the step, and insert the checkpoint if one was made."""
    step = await (await session.connection()).run_sync(steps.end, step_id, ended)
    if made is not None:
        row = CheckpointRow(
            chat_id=step.chat_id,
            turn=step.turn,
            step_id=step.id,
            content=made.to_json(),
            created_at=ended.ended_at,
        )
        session.add(row)
        await session.flush()
    return step
