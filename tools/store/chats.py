"""Queries on the rows of chats, and the views of them that clients receive."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Row,
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
from sqlalchemy.orm import InstrumentedAttribute, Session, aliased

from deskhand.tools.conversation.question import ChatQuestion
from deskhand.tools.conversation.states import BUSY, ChatState
from deskhand.tools.conversation.views import ChatView, Page
from deskhand.tools.conversation.waiting import WaitingFor, stored_wait

from . import files
from .errors import StaleDriver, UnknownRow
from .schema import ChatRow, FileRow, MessageRow, StepRow, TurnRow
from .steps import last_steps
from .tables.questions import open_questions
from .turns import TurnColumns, of_chats, result_of, usage_of

EVERY_CHAT = true()
"""Condition that all chats meet."""
AT_WORK = (*BUSY, ChatState.REQUIRES_ACTION)

ChatColumns = Row[*tuple[Any, ...]]
LISTED: Select[*tuple[Any, ...]] = select(
    *(ChatRow.id, ChatRow.parent_id, ChatRow.root_id, ChatRow.title, ChatRow.mode, ChatRow.model),
    *(ChatRow.state, ChatRow.archived, ChatRow.desktop_id, ChatRow.without_execute, ChatRow.turn),
    *(ChatRow.approval, ChatRow.domains, ChatRow.look_only, ChatRow.status_message, ChatRow.effort),
    *(ChatRow.person_since, ChatRow.version, ChatRow.created_at, ChatRow.updated_at),
)
"""Every chat, with what its view has of its row. Columns are read faster than objects."""
_IDS: BindParameter[list[str]] = bindparam("ids", expanding=True)
_CHILDREN = (
    select(ChatRow.id, ChatRow.parent_id)
    .where(ChatRow.parent_id.in_(_IDS))
    .order_by(ChatRow.created_at)
)


def _count_of(column: InstrumentedAttribute[Any], *conditions: ColumnElement[bool]) -> Any:
    counted = select(func.count()).where(column == ChatRow.id, *conditions)
    return counted.correlate(ChatRow).scalar_subquery()


_CHILD = aliased(ChatRow)
_COUNTS = select(
    ChatRow.id,
    _count_of(StepRow.chat_id),
    _count_of(MessageRow.chat_id, MessageRow.position.is_(None)),
    _count_of(_CHILD.parent_id),
).where(ChatRow.id.in_(_IDS))
"""Id, and how many steps, queued messages and children the chat has."""
_NONE = (0, 0, 0)
"""The counts of a chat that another transaction has deleted meanwhile."""
_THESE = LISTED.where(ChatRow.id.in_(_IDS))
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


async def locked(session: AsyncSession, chat_id: str, generation: int = 0) -> ChatRow:
    """Return the row of a chat that is changed; no other transaction changes it before the end.

    The first statement of each write to a chat: what it reads afterwards is the newest state. A
    write of a turn names the ``generation`` under which its control plane drives the chat.

    Raises:
        UnknownRow: If the chat does not exist.
        StaleDriver: If it is driven under another generation.
    """
    # SQLite has no such clause: the store admits one writer at a time. Rows that name the chat may
    # be inserted meanwhile, so that two transactions which have inserted one do not wait for each
    # other.
    chat = await session.get(ChatRow, chat_id, with_for_update={"key_share": True})
    if chat is None:
        raise UnknownRow("chat", chat_id)
    if generation and chat.generation != generation:
        raise StaleDriver(chat_id, generation, chat.generation)
    return chat


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
    """Delete a chat with its descendants and their files.

    Return the ids of what may be removed then: the files, and packs of their pictures.
    """
    chats = await with_descendants(session, chat_id)
    ids = [chat.id for chat in chats]
    made = list(await session.scalars(select(FileRow.id).where(FileRow.chat_id.in_(ids))))
    # The files first: deleting the chats sets their ``chat_id`` to null. The rest cascades.
    removed = await files.delete_existing(session, made)
    await session.delete(chats[0])
    return removed


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
    query = LISTED.where(ChatRow.archived == (state == "archived"), visible)
    if parent is not None:
        query = query.where(ChatRow.parent_id == parent if parent else ChatRow.parent_id.is_(None))
    if state not in (None, "archived"):
        query = query.where(ChatRow.state == state)
    return paged(session, query, limit, cursor)


def paged(
    session: Session, query: Select[*tuple[Any, ...]], limit: int, cursor: str | None
) -> Page:
    """Return a page of the chats of a query, which narrows `LISTED`, newest first.

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
    rows = session.execute(query).all()
    more = rows[limit - 1].id if len(rows) > limit else None
    return Page(_views(session, rows[:limit]), more)


def recorded(
    session: Session, limit: int, cursor: str | None, visible: ColumnElement[bool] = EVERY_CHAT
) -> Page:
    """Return a page of the chats with files of recordings, newest first."""
    files = (TurnRow.chat_id == ChatRow.id) & TurnRow.recorded
    query = LISTED.where(ChatRow.archived.is_(False), visible, exists().where(files))
    return paged(session, query, limit, cursor)


async def view(session: AsyncSession, chat_id: str) -> ChatView:
    """Return the view of one chat.

    Raises:
        UnknownRow: If the chat does not exist.
    """
    found = await views_of(session, [chat_id])
    if not found:
        raise UnknownRow("chat", chat_id)
    return found[0]


async def views_of(session: AsyncSession, ids: Collection[str]) -> tuple[ChatView, ...]:
    """Return the views of the chats that exist."""
    rows = (await session.execute(_THESE, {"ids": list(ids)})).all()
    return await session.run_sync(lambda s: _views(s, rows))


def _views(session: Session, rows: Sequence[ChatColumns]) -> tuple[ChatView, ...]:
    """Return the views of rows of `LISTED`, in a fixed number of queries."""
    if not rows:
        return ()
    ids = [row.id for row in rows]
    # One query for each kind of row and not for each chat: a page may have 1,000 chats.
    turns = of_chats(session, [row.id for row in rows if row.turn])
    counts = {
        chat_id: (steps, queued, below)
        for chat_id, steps, queued, below in session.execute(_COUNTS, {"ids": ids})
    }
    children = _children(session, [one for one in ids if counts.get(one, _NONE)[2]])
    asking = [row.id for row in rows if row.state == "requires_action"]
    questions = open_questions(session, asking)
    newest = last_steps(session, [row.id for row in rows if row.state in AT_WORK])
    return tuple(
        _view(
            row,
            turns.get(row.id, ()),
            *counts.get(row.id, _NONE)[:2],
            children=tuple(children.get(row.id, ())),
            requires_action=_required(questions.get(row.id)),
            waiting_for=_wait(row, questions.get(row.id)),
            last_step=newest.get(row.id),
        )
        for row in rows
    )


def _children(session: Session, ids: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    if not ids:
        return found
    for child_id, parent_id in session.execute(_CHILDREN, {"ids": ids}):
        found.setdefault(str(parent_id), []).append(child_id)
    return found


def _required(question: ChatQuestion | None) -> dict[str, Any] | None:
    return None if question is None else question.to_json()


def _wait(row: ChatColumns, question: ChatQuestion | None) -> WaitingFor | None:
    return stored_wait(row.person_since, None if question is None else question.asked_at)


def _view(
    row: ChatColumns,
    turns: Sequence[TurnColumns],
    step_count: int,
    queue_length: int,
    **others: Any,
) -> ChatView:
    """Return the view of a row; ``others`` are the fields of other rows."""
    newest = next((turn for turn in turns if turn.number == row.turn), None)
    return ChatView(
        **others,
        **({} if newest is None else result_of(turns, newest)),
        step_count=step_count,
        queue_length=queue_length,
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
        usage=usage_of(turns),
        version=row.version,
        without_execute=row.without_execute,
        approval=row.approval,
        domains=tuple(row.domains or ()),
        look_only=row.look_only,
        status_message=row.status_message,
        effort=row.effort,
    )
