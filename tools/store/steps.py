"""Queries on the rows of steps: the tool calls of a chat."""

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from sqlalchemy import Connection, and_, bindparam, func, insert, or_, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from deskhand.tools.conversation.last_step import last_step
from deskhand.tools.conversation.step_hash import last_step_hash
from deskhand.tools.conversation.step_target import StepTarget
from deskhand.tools.conversation.views import StepView

from .errors import UnknownRow
from .schema import ChatRow, StepRow, StepTargetRow, TurnRow

Json = dict[str, Any]

_STEPS = StepRow.__table__.c
_VIEWED = tuple(field.name for field in fields(StepView))
_NOT_YET: Json = dict.fromkeys(
    ("error", "ended_at", "screenshot_file_id", "video_start", "video_end", "usage")
)
# Statements of each call are built once: their construction takes longer than their execution.
# Two calls cannot get the same index, because the row of the chat is locked.
_LAST = select(func.max(_STEPS.index)).where(_STEPS.chat_id == bindparam("of_chat"))
_BEGINNING = (
    insert(StepRow.__table__)  # type: ignore[arg-type]
    .values(index=func.coalesce(_LAST.scalar_subquery() + 1, 0))
    .returning(_STEPS.index)
)
_CHANGING = (
    update(StepRow.__table__)  # type: ignore[arg-type]
    .where(_STEPS.id == bindparam("of_step"))
    .returning(*(_STEPS[name] for name in _VIEWED))
)
_OF_TURN = and_(StepRow.chat_id == ChatRow.id, StepRow.turn == ChatRow.turn)
_OF_CALL = (
    select(StepRow, ChatRow.parent_id, ChatRow.without_execute)
    .select_from(ChatRow)
    .outerjoin(StepRow, and_(_OF_TURN, StepRow.tool_call_id == bindparam("of_call")))
    .where(ChatRow.id == bindparam("of_chat"))
    .order_by(StepRow.index.desc())
    .limit(1)
)


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
    usage: Json | None = None
    """Tokens and cost of the request to the model that led to the step."""


_BEGUN = select(StepRow.id).where(
    StepRow.chat_id == bindparam("of_chat"),
    StepRow.turn == bindparam("of_turn"),
    StepRow.tool_call_id == bindparam("of_call"),
)


def begin(
    connection: Connection,
    chat_id: str,
    turn: int,
    *,
    tool_call_id: str,
    tool: str,
    title: str,
    action: str | None,
    arguments: Json,
    now: float,
    plane: str | None = None,
) -> StepView:
    """Insert a running step; call it before anything is done for the call.

    ``plane`` runs a call from outside of a turn, of several control planes on one database.
    """
    row: Json = {
        "id": str(uuid.uuid4()),
        "chat_id": chat_id,
        "turn": turn,
        "tool_call_id": tool_call_id,
        "tool": tool,
        "title": title,
        "action": action,
        "arguments": arguments,
        "status": "running",
        "started_at": now,
        "timings": {},
        "details": {},
    }
    inserted = connection.execute(_BEGINNING, {**row, "plane": plane, "of_chat": chat_id})
    return StepView(**{**_NOT_YET, **row, "index": inserted.scalar_one()})


def illustrate(connection: Connection, step_id: str, file_id: str) -> StepView:
    """Set the picture of a step.

    Raises:
        UnknownRow: If the step was deleted with its chat.
    """
    return _changed(connection, step_id, {"screenshot_file_id": file_id})


def end(connection: Connection, step_id: str, ended: StepEnd) -> StepView:
    """Store the result of a step.

    Raises:
        UnknownRow: If the step was deleted with its chat.
    """
    changes: Json = {
        "status": ended.status,
        "result": ended.result,
        "ended_at": ended.ended_at,
        "error": ended.error,
        "timings": ended.timings,
        "details": ended.details,
        "screenshot_file_id": ended.screenshot_file_id,
        "usage": ended.usage,
    }
    if ended.title is not None and ended.arguments is not None:
        changes |= {"title": ended.title, "arguments": ended.arguments}
    return _changed(connection, step_id, changes)


def _changed(connection: Connection, step_id: str, changes: Json) -> StepView:
    row = connection.execute(_CHANGING, {**changes, "of_step": step_id}).mappings().one_or_none()
    if row is None:
        raise UnknownRow("step", step_id)
    return StepView(**row)


def add_targets(connection: Connection, step_id: str, targets: Sequence[StepTarget | None]) -> None:
    """Store what a step's action was aimed at, as far as it is known."""
    rows = [
        {
            "step_id": step_id,
            "position": position,
            "role": one.role,
            "name": one.name,
            "near": {"texts": list(one.near)},
            **dict(zip(("x", "y"), one.point or (None, None), strict=True)),
            **dict(zip(("screen_width", "screen_height"), one.screen, strict=True)),
            "patch": one.patch,
            **dict(zip(("patch_x", "patch_y"), one.patch_point or (None, None), strict=True)),
        }
        for position, one in enumerate(targets)
        if one is not None
    ]
    if rows:
        connection.execute(insert(StepTargetRow), rows)


async def targets_of_turn(
    session: AsyncSession, chat_id: str, turn: int
) -> dict[str, dict[int, StepTarget]]:
    """Return the known targets of a turn's steps, by the step's id and their position."""
    query = select(StepTargetRow).join(StepRow, StepRow.id == StepTargetRow.step_id)
    query = query.where(StepRow.chat_id == chat_id, StepRow.turn == turn)
    found: dict[str, dict[int, StepTarget]] = {}
    for row in await session.scalars(query):
        found.setdefault(row.step_id, {})[row.position] = StepTarget(
            row.role,
            row.name,
            tuple(row.near["texts"]),
            None if row.x is None or row.y is None else (row.x, row.y),
            (row.screen_width, row.screen_height),
            row.patch,
            None if row.patch_x is None or row.patch_y is None else (row.patch_x, row.patch_y),
        )
    return found


def of_call(
    session: Session, chat_id: str, tool_call_id: str
) -> tuple[StepRow | None, str | None, bool]:
    """Return the step of a call in the current turn, the newest if the id was used twice.

    With it come two facts about its chat, in one query: its parent's id, and True if it cannot run
    programs.

    Raises:
        UnknownRow: If the chat does not exist.
    """
    named = {"of_chat": chat_id, "of_call": tool_call_id}
    found = session.execute(_OF_CALL, named).one_or_none()
    if found is None:
        raise UnknownRow("chat", chat_id)
    step, parent, lacks_execute = found
    return step, parent, lacks_execute


def has_begun(connection: Connection, chat_id: str, turn: int, tool_call_id: str) -> bool:
    """Return whether a turn has a step of a call, which the caller's lock of the chat keeps so."""
    found = connection.execute(
        _BEGUN, {"of_chat": chat_id, "of_turn": turn, "of_call": tool_call_id}
    )
    return found.first() is not None


async def running(
    session: AsyncSession, chat_id: str, planes: Collection[str] = ()
) -> list[StepRow]:
    """Return the steps of a chat that are running, but for calls from outside at ``planes``."""
    query = select(StepRow).where(
        StepRow.chat_id == chat_id,
        StepRow.status == "running",
        or_(StepRow.plane.is_(None), StepRow.plane.not_in(planes)),
    )
    return list(await session.scalars(query.order_by(StepRow.index)))


async def cut_off(session: AsyncSession, planes: Collection[str]) -> list[StepRow]:
    """Return the running calls from outside of turns at other control planes than ``planes``."""
    query = select(StepRow).where(
        StepRow.status == "running",
        StepRow.plane.is_not(None),
        StepRow.plane.not_in(planes),
    )
    return list(await session.scalars(query))


async def called_outside(session: AsyncSession, root_id: str) -> bool:
    """Return whether a call from outside of turns runs for a root chat or one below it."""
    query = select(StepRow.id).join(ChatRow, ChatRow.id == StepRow.chat_id)
    query = query.where(
        ChatRow.root_id == root_id, StepRow.status == "running", StepRow.plane.is_not(None)
    )
    return await session.scalar(query.limit(1)) is not None


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


async def views_of(session: AsyncSession, ids: Collection[str]) -> dict[str, StepView]:
    """Return the steps that exist, by their ids."""
    if not ids:
        return {}
    rows = await session.scalars(select(StepRow).where(StepRow.id.in_(ids)))
    return {row.id: view(row) for row in rows}


def view(step: StepRow) -> StepView:
    """Return the view of one step."""
    return StepView(**{name: getattr(step, name) for name in _VIEWED})


def last_steps(session: Session, ids: Sequence[str]) -> dict[str, Json]:
    """Return the newest step of each chat that has one, by the chat's id."""
    if not ids:
        return {}
    newest = select(StepRow.chat_id, func.max(StepRow.index)).where(StepRow.chat_id.in_(ids))
    places = tuple_(StepRow.chat_id, StepRow.index).in_(newest.group_by(StepRow.chat_id))
    columns = (StepRow.tool, StepRow.action, StepRow.title, StepRow.arguments)
    found = session.execute(select(StepRow.chat_id, *columns).where(places))
    return {
        chat_id: last_step(tool, action, title, arguments)
        for chat_id, tool, action, title, arguments in found
    }
