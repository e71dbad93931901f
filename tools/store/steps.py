"""Queries on the rows of steps: the tool calls of a chat."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.conversation.step_hash import last_step_hash
from deskhand.tools.conversation.views import StepView

from .errors import UnknownRow
from .schema import ChatRow, StepRow, TurnRow

Json = dict[str, Any]


@dataclass(frozen=True)
class StepEnd:
    """Result of a step."""

    status: str
    result: Json
    ended_at: float
    error: str | None = None
    timings: Json = field(default_factory=dict)
    details: Json = field(default_factory=dict)
    screenshot_file_id: str | None = None
    title: str | None = None
    arguments: Json | None = None
    """Title and arguments replace those of the beginning, where they may show more or less."""


async def begin(
    session: AsyncSession,
    chat: ChatRow,
    *,
    tool_call_id: str,
    tool: str,
    title: str,
    action: str | None,
    arguments: Json,
    now: float,
) -> StepRow:
    """Insert a running step; call it before anything is done for the call."""
    # Two calls cannot get the same index: ``Store.write`` admits one writer at a time.
    last = await session.scalar(select(func.max(StepRow.index)).where(StepRow.chat_id == chat.id))
    step = StepRow(
        id=str(uuid.uuid4()),
        chat_id=chat.id,
        turn=chat.turn,
        index=0 if last is None else last + 1,
        tool_call_id=tool_call_id,
        tool=tool,
        title=title,
        action=action,
        arguments=arguments,
        status="running",
        error=None,
        result=None,
        started_at=now,
        ended_at=None,
        timings={},
        details={},
        screenshot_file_id=None,
        video_start=None,
        video_end=None,
    )
    session.add(step)
    await session.flush()
    return step


async def illustrate(session: AsyncSession, step_id: str, file_id: str) -> StepRow:
    """Set the picture of a step.

    Raises:
        UnknownRow: If the step was deleted with its chat.
    """
    step = await _get(session, step_id)
    step.screenshot_file_id = file_id
    await session.flush()
    return step


async def end(session: AsyncSession, step_id: str, ended: StepEnd) -> StepRow:
    """Store the result of a step.

    Raises:
        UnknownRow: If the step was deleted with its chat.
    """
    step = await _get(session, step_id)
    step.status = ended.status
    step.result = ended.result
    step.ended_at = ended.ended_at
    step.error = ended.error
    step.timings = ended.timings
    step.details = ended.details
    step.screenshot_file_id = ended.screenshot_file_id
    if ended.title is not None and ended.arguments is not None:
        step.title, step.arguments = ended.title, ended.arguments
    await session.flush()
    return step


async def _get(session: AsyncSession, step_id: str) -> StepRow:
    step = await session.get(StepRow, step_id)
    if step is None:
        raise UnknownRow("step", step_id)
    return step


async def of_call(session: AsyncSession, chat: ChatRow, tool_call_id: str) -> StepRow | None:
    """Return the step of a call in the current turn, the newest if the id was used twice."""
    query = select(StepRow).where(
        StepRow.chat_id == chat.id, StepRow.turn == chat.turn, StepRow.tool_call_id == tool_call_id
    )
    return await session.scalar(query.order_by(StepRow.index.desc()).limit(1))


async def running(session: AsyncSession, chat_id: str) -> list[StepRow]:
    """Return the steps of a chat that are running."""
    query = select(StepRow).where(StepRow.chat_id == chat_id, StepRow.status == "running")
    return list(await session.scalars(query.order_by(StepRow.index)))


async def chats_with_running(session: AsyncSession) -> list[str]:
    """Return the ids of the chats that have a running step."""
    query = select(StepRow.chat_id).where(StepRow.status == "running").distinct()
    return list(await session.scalars(query))


async def of_turn(session: AsyncSession, chat_id: str, turn: int) -> list[StepRow]:
    """Return the steps of one turn, in order."""
    query = select(StepRow).where(StepRow.chat_id == chat_id, StepRow.turn == turn)
    return list(await session.scalars(query.order_by(StepRow.index)))


async def hash_of_turn(session: AsyncSession, turn: TurnRow) -> str:
    """Return the hash of the last step of a turn that has ended, as its rows are now."""
    found = map(view, await of_turn(session, turn.chat_id, turn.number))
    return last_step_hash(found, turn.ended_at or 0.0)


async def changed_turns(session: AsyncSession, chat_id: str) -> list[int]:
    """Return the numbers of the turns of a chat whose steps were changed after their end."""
    query = select(TurnRow).where(TurnRow.chat_id == chat_id, TurnRow.last_step_hash.is_not(None))
    ended = list(await session.scalars(query.order_by(TurnRow.number)))
    return [
        turn.number for turn in ended if await hash_of_turn(session, turn) != turn.last_step_hash
    ]


async def place_in_video(
    session: AsyncSession, chat_id: str, turn: int, times: Mapping[str, tuple[float, float]]
) -> None:
    """Set the position in the turn's video of each step; ``times`` is by tool-call id."""
    for step in await of_turn(session, chat_id, turn):
        if step.tool_call_id in times:
            step.video_start, step.video_end = times[step.tool_call_id]


async def views(session: AsyncSession, chat_id: str) -> tuple[StepView, ...]:
    """Return the views of all steps of a chat."""
    query = select(StepRow).where(StepRow.chat_id == chat_id).order_by(StepRow.index)
    return tuple(view(step) for step in await session.scalars(query))


def view(step: StepRow) -> StepView:
    """Return the view of one step."""
    return StepView(
        id=step.id,
        chat_id=step.chat_id,
        index=step.index,
        turn=step.turn,
        tool_call_id=step.tool_call_id,
        tool=step.tool,
        title=step.title,
        action=step.action,
        arguments=step.arguments,
        status=step.status,
        error=step.error,
        started_at=step.started_at,
        ended_at=step.ended_at,
        timings=step.timings,
        details=step.details,
        screenshot_file_id=step.screenshot_file_id,
        video_start=step.video_start,
        video_end=step.video_end,
    )
