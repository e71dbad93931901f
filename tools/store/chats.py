"""Queries on the rows of chats, and the views of them that clients receive."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    exists,
    func,
    or_,
    select,
    true,
    update,
)
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from deskhand.tools.conversation.question import ChatQuestion, QuestionKind, QuestionState
from deskhand.tools.conversation.restrictions import ApprovalMode
from deskhand.tools.conversation.states import BUSY, ChatState
from deskhand.tools.conversation.views import ChatView, Page, UsageView
from deskhand.tools.conversation.waiting import WaitingFor, waiting_for

from .errors import UnknownRow
from .schema import ChatRow, FileRow, MessageRow, QuestionRow, StepRow, TurnRow
from .steps import last_steps

EVERY_CHAT = true()
"""Condition that all chats meet."""
AT_WORK = (*BUSY, ChatState.REQUIRES_ACTION)

_COUNTING = (
    update(ChatRow.__table__)  # type: ignore[arg-type]
    .where(ChatRow.id == bindparam("of_chat"))
    .values(version=ChatRow.version + 1, updated_at=bindparam("now"))
    .returning(ChatRow.turn, ChatRow.version)
)


async def get(session: AsyncSession, chat_id: str) -> ChatRow:
    """Return the row of a chat.

    Raises:
        UnknownRow: If the chat does not exist.
    """
    return await session.run_sync(lambda s: row_of(s, chat_id))


def row_of(session: Session, chat_id: str) -> ChatRow:
    """Do as `get`, in a thread."""
    chat = session.get(ChatRow, chat_id)
    if chat is None:
        raise UnknownRow("chat", chat_id)
    return chat


def count_change(connection: Connection, chat_id: str, now: float) -> tuple[int, int]:
    """Count a change of a chat; return the numbers of its turn and of its version.

    Raises:
        UnknownRow: If the chat does not exist.
    """
    row = connection.execute(_COUNTING, {"of_chat": chat_id, "now": now}).one_or_none()
    if row is None:
        raise UnknownRow("chat", chat_id)
    return row.turn, row.version


async def is_descendant(session: AsyncSession, chat_id: str, ancestor_id: str) -> bool:
    """Return whether ``ancestor_id`` is an ancestor of ``chat_id``; never of an unknown chat."""
    # A damaged database may contain a cycle of parents, which must not hold the reader for ever.
    seen = {chat_id}
    above = await session.scalar(select(ChatRow.parent_id).where(ChatRow.id == chat_id))
    while above is not None and above not in seen:
        if above == ancestor_id:
            return True
        seen.add(above)
        above = await session.scalar(select(ChatRow.parent_id).where(ChatRow.id == above))
    return False


def desktop_of(session: Session, chat_id: str) -> str | None:
    """Return the id of a chat's desktop; None without one, and for a chat that does not exist."""
    return session.scalar(select(ChatRow.desktop_id).where(ChatRow.id == chat_id))


def with_ancestors(session: Session, chat_id: str) -> tuple[ChatRow, tuple[str, ...]]:
    """Return the row of a chat, and the ids of its ancestors; raises ``UnknownRow``."""
    chat = session.get(ChatRow, chat_id)
    if chat is None:
        raise UnknownRow("chat", chat_id)
    return chat, () if chat.parent_id is None else above(session, chat_id)


async def ancestors(session: AsyncSession, chat_id: str) -> tuple[str, ...]:
    """Return the ids of a chat's ancestors, the parent first."""
    return await session.run_sync(above, chat_id)


def above(session: Session, chat_id: str) -> tuple[str, ...]:
    """Return what `ancestors` returns."""
    found: list[str] = []
    parent = session.scalar(select(ChatRow.parent_id).where(ChatRow.id == chat_id))
    while parent is not None and parent not in found:
        found.append(parent)
        parent = session.scalar(select(ChatRow.parent_id).where(ChatRow.id == parent))
    return tuple(found)


async def of_token(session: AsyncSession, token_name: str) -> ChatRow | None:
    """Return the default chat of a token, if it has one already."""
    return await session.scalar(select(ChatRow).where(ChatRow.token_name == token_name))


async def count_by_state(session: AsyncSession) -> dict[str, int]:
    """Return the number of chats in each state that any has."""
    query = select(ChatRow.state, func.count()).group_by(ChatRow.state)
    return {row[0]: row[1] for row in await session.execute(query)}


async def in_states(session: AsyncSession, states: Sequence[str]) -> list[ChatRow]:
    """Return the chats in one of these states, oldest first."""
    query = (
        select(ChatRow).where(ChatRow.state.in_(states)).order_by(ChatRow.created_at, ChatRow.id)
    )
    return list(await session.scalars(query))


async def with_desktop(session: AsyncSession) -> list[ChatRow]:
    """Return the chats that have a desktop, those that changed longest ago first."""
    query = (
        select(ChatRow)
        .where(ChatRow.desktop_id.is_not(None))
        .order_by(ChatRow.updated_at, ChatRow.id)
    )
    return list(await session.scalars(query))


async def with_descendants(session: AsyncSession, chat_id: str) -> list[ChatRow]:
    """Return a chat and all its descendants, parents before their children."""
    found = [await get(session, chat_id)]
    # The list grows while it is iterated: each level appends the next one.
    for chat in found:
        found += await session.scalars(select(ChatRow).where(ChatRow.parent_id == chat.id))
    return found


async def archived_before(session: AsyncSession, moment: float) -> list[str]:
    """Return the ids of archived chats without a change since then, except those with pinned files.

    Descendants of a returned chat are left out, as they are deleted with it.
    """
    old = (
        select(ChatRow)
        .where(ChatRow.archived, ChatRow.updated_at < moment)
        .order_by(ChatRow.created_at)
    )
    found: list[str] = []
    for chat in list(await session.scalars(old)):
        tree = await with_descendants(session, chat.id)
        # A pinned file anywhere in the tree keeps the whole tree: it would be deleted with its
        # chat.
        whose = FileRow.chat_id.in_([one.id for one in tree])
        details = await session.scalars(select(FileRow.details).where(whose))
        wanted = any(one.get("pinned") for one in details) or not all(
            one.archived and one.updated_at < moment for one in tree
        )
        # Parents are older than their children, so that an ancestor to be deleted is in the list
        # already.
        if not wanted and not set(await ancestors(session, chat.id)) & set(found):
            found.append(chat.id)
    return found


async def delete_tree(session: AsyncSession, chat_id: str) -> list[str]:
    """Delete a chat with its descendants and their files; return the ids of the files."""
    chats = await with_descendants(session, chat_id)
    ids = [chat.id for chat in chats]
    files = list(await session.scalars(select(FileRow).where(FileRow.chat_id.in_(ids))))
    for file in files:
        await session.delete(file)
    # The files first: deleting the chats sets their ``chat_id`` to null. The rest cascades.
    await session.flush()
    await session.delete(chats[0])
    return [file.id for file in files]


def page(
    session: Session,
    visible: ColumnElement[bool] = EVERY_CHAT,
    *,
    parent: str | None,
    state: str | None,
    limit: int,
    cursor: str | None,
) -> Page:
    """Return a page of chats, newest first.

    ``parent`` "" selects those without a parent, the state ``archived`` the archived ones, which
    are otherwise left out. ``cursor`` is the id of the last chat of the page before, ``visible`` a
    condition that chats must meet.
    """
    query = select(ChatRow).where(ChatRow.archived == (state == "archived"), visible)
    if parent is not None:
        query = query.where(ChatRow.parent_id == parent if parent else ChatRow.parent_id.is_(None))
    if state not in (None, "archived"):
        query = query.where(ChatRow.state == state)
    return paged(session, query, limit, cursor)


def paged(session: Session, query: Select[ChatRow], limit: int, cursor: str | None) -> Page:
    """Return a page of the chats of a query, newest first.

    Raises:
        UnknownRow: If the chat of the cursor does not exist.
    """
    if cursor is not None:
        # A key and not an offset, so that new chats do not shift the pages. Times may be equal.
        last = row_of(session, cursor)
        older = and_(ChatRow.created_at == last.created_at, ChatRow.id < last.id)
        query = query.where(or_(ChatRow.created_at < last.created_at, older))
    # One row more than asked for shows whether there is another page.
    query = query.order_by(ChatRow.created_at.desc(), ChatRow.id.desc()).limit(limit + 1)
    rows = list(session.scalars(query))
    more = rows[limit - 1].id if len(rows) > limit else None
    return Page(views(session, rows[:limit]), more)


def recorded(
    session: Session, limit: int, cursor: str | None, visible: ColumnElement[bool] = EVERY_CHAT
) -> Page:
    """Return a page of the chats with files of recordings, newest first."""
    files = (TurnRow.chat_id == ChatRow.id) & TurnRow.recorded
    query = select(ChatRow).where(ChatRow.archived.is_(False), visible, exists().where(files))
    return paged(session, query, limit, cursor)


async def view(session: AsyncSession, chat_id: str) -> ChatView:
    """Return the view of one chat."""
    return await session.run_sync(lambda s: views(s, [row_of(s, chat_id)])[0])


def views(session: Session, rows: Sequence[ChatRow]) -> tuple[ChatView, ...]:
    """Return the views of chats, in a fixed number of queries."""
    if not rows:
        return ()
    ids = [row.id for row in rows]
    # One query for each kind of row and not for each chat: a page may have 1,000 chats.
    turns: dict[str, list[TurnRow]] = {}
    for turn in _turns(session, ids):
        turns.setdefault(turn.chat_id, []).append(turn)
    steps = _counts(session, StepRow.chat_id, ids)
    queued = _counts(session, MessageRow.chat_id, ids, MessageRow.position.is_(None))
    children: dict[str, list[str]] = {}
    below = select(ChatRow.id, ChatRow.parent_id).where(ChatRow.parent_id.in_(ids))
    for child_id, parent_id in session.execute(below.order_by(ChatRow.created_at)):
        children.setdefault(str(parent_id), []).append(child_id)
    asking = [row.id for row in rows if row.state == "requires_action"]
    questions = _open_questions(session, asking)
    newest = last_steps(session, [row.id for row in rows if row.state in AT_WORK])
    return tuple(
        replace(
            _view(
                row,
                turns.get(row.id, ()),
                steps.get(row.id, 0),
                queued.get(row.id, 0),
                tuple(children.get(row.id, ())),
            ),
            requires_action=_required(questions.get(row.id)),
            waiting_for=_answer_wait(questions.get(row.id)),
            last_step=newest.get(row.id),
        )
        for row in rows
    )


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


def _open_questions(session: Session, ids: Sequence[str]) -> dict[str, ChatQuestion]:
    if not ids:
        return {}
    query = select(QuestionRow).where(QuestionRow.chat_id.in_(ids), QuestionRow.state == "open")
    return {row.chat_id: question_of(row) for row in session.scalars(query)}


def _required(question: ChatQuestion | None) -> dict[str, Any] | None:
    return None if question is None else question.to_json()


def _answer_wait(question: ChatQuestion | None) -> WaitingFor | None:
    return None if question is None else waiting_for("question", question.asked_at)


def _turns(session: Session, ids: Sequence[str]) -> list[TurnRow]:
    query = select(TurnRow).where(TurnRow.chat_id.in_(ids)).order_by(TurnRow.number)
    return list(session.scalars(query))


def _counts(session: Session, column: Any, ids: Sequence[str], *conditions: Any) -> dict[str, int]:
    query = select(column, func.count()).where(column.in_(ids), *conditions).group_by(column)
    return {chat_id: count for chat_id, count in session.execute(query)}  # noqa: C416


def _view(
    row: ChatRow, turns: Sequence[TurnRow], steps: int, queued: int, children: tuple[str, ...]
) -> ChatView:
    newest = next((turn for turn in turns if turn.number == row.turn), None)
    shown = ChatView(
        id=row.id,
        title=row.title,
        state=row.state,
        mode=row.mode,
        model=row.model,
        parent_id=row.parent_id,
        root_id=row.root_id,
        desktop_id=row.desktop_id,
        created_at=row.created_at,
        updated_at=row.updated_at,
        archived=row.archived,
        turn=row.turn,
        step_count=steps,
        queue_length=queued,
        usage=UsageView(
            sum(turn.input_tokens for turn in turns),
            sum(turn.output_tokens for turn in turns),
            sum(turn.cache_read_tokens for turn in turns),
            sum(turn.cache_write_tokens for turn in turns),
            sum(turn.dropped_thinking for turn in turns),
            sum(turn.thinking_tokens for turn in turns),
            _cost(turns),
        ),
        children=children,
        version=row.version,
        without_execute=row.without_execute,
        approval=cast(ApprovalMode | None, row.approval),
        domains=tuple(row.domains or ()),
        look_only=row.look_only,
        status_message=row.status_message,
        effort=row.effort,
    )
    return shown if newest is None else _with_turn(shown, turns, newest)


def _cost(turns: Sequence[TurnRow]) -> float | None:
    """Return the cost of turns; a turn of an earlier version that used tokens has none."""
    total = 0.0
    for turn in turns:
        if turn.cost_usd is None and (turn.input_tokens or turn.output_tokens):
            return None
        total += turn.cost_usd or 0.0
    return total


def _with_turn(shown: ChatView, turns: Sequence[TurnRow], newest: TurnRow) -> ChatView:
    # The videos of all turns are listed; the status is that of the newest turn.
    recorded = [turn.recording for turn in turns if turn.recording.get("file_ids")]
    return replace(
        shown,
        started_at=newest.started_at,
        ended_at=newest.ended_at,
        report=newest.report,
        outcome=newest.outcome,
        outcome_source=newest.outcome_source,
        last_error=newest.error,
        last_error_kind=newest.error_kind,
        recording_status=newest.recording.get("status", "none"),
        recording_warning=newest.recording.get("warning"),
        end_reason=newest.recording.get("end_reason"),
        complete=newest.recording.get("complete"),
        recording_file_ids=tuple(f for recording in recorded for f in recording["file_ids"]),
        thumbnail_file_id=recorded[-1].get("thumbnail_file_id") if recorded else None,
    )
