"""The query for a page of runs.

A run is a chat that has worked: one with the mode ``computer_use``, or with a turn. The search
reads title, reports and the first message of each run, newest run first, and ends when the page is
full, so that only a search without matches reads all of them.
"""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import ColumnElement, Select, exists, or_
from sqlalchemy.orm import aliased

from deskhand.tools.conversation.views import Page
from deskhand.tools.store.chats import LISTED, paged
from deskhand.tools.store.database import Store
from deskhand.tools.store.ownership import visible_to
from deskhand.tools.store.schema import ChatRow, FileRow, MessageRow, TurnRow

from .run_filter import RunFilter, pattern_of


class RunList:
    """The runs of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def page(self, wanted: RunFilter, limit: int, cursor: str | None) -> Page:
        """Return a page of the runs that meet a filter, newest first.

        ``cursor`` is the id of the last run of the page before.

        Raises:
            UnknownRow: If the run of the cursor does not exist.
            StoreUnavailable: If the database cannot be read.
        """
        query = _query(wanted)
        return await self._store.read_short(lambda session: paged(session, query, limit, cursor))


def _query(wanted: RunFilter) -> Select[*tuple[Any, ...]]:
    query = LISTED.where(
        ChatRow.archived.is_(False), or_(ChatRow.mode == "computer_use", ChatRow.turn > 0)
    )
    return query.where(*_conditions(wanted))


def _conditions(wanted: RunFilter) -> Iterator[ColumnElement[bool]]:
    if wanted.seen_by:
        yield visible_to(wanted.seen_by)
    if wanted.outcome:
        newest = (TurnRow.chat_id == ChatRow.id) & (TurnRow.number == ChatRow.turn)
        yield exists().where(newest, TurnRow.outcome == wanted.outcome)
    if wanted.model:
        yield ChatRow.model == wanted.model
    if wanted.needs_person:
        yield ChatRow.state == "requires_action"
    if wanted.recorded:
        yield exists().where((TurnRow.chat_id == ChatRow.id) & TurnRow.recorded)
    if wanted.since is not None:
        yield ChatRow.created_at >= wanted.since
    if wanted.until is not None:
        yield ChatRow.created_at < wanted.until
    for word in wanted.words:
        yield _contains(pattern_of(word))
    yield from _relations(wanted)


def _relations(wanted: RunFilter) -> Iterator[ColumnElement[bool]]:
    """Yield the conditions on what belongs to a run: files, owner, parent."""
    if wanted.pinned:
        pinned = FileRow.details["pinned"].as_boolean()
        yield exists().where(FileRow.chat_id == ChatRow.id, pinned)
    if wanted.owner:
        yield ChatRow.owner == wanted.owner
    if wanted.families:
        above = aliased(ChatRow)
        worked = or_(above.mode == "computer_use", above.turn > 0)
        yield ~exists().where(above.id == ChatRow.parent_id, worked)


def _contains(pattern: str) -> ColumnElement[bool]:
    # The column stores JSON, in which a letter may be an escape: the database decodes the text.
    prompt = MessageRow.content[(0, "text")].as_string()
    first = (MessageRow.chat_id == ChatRow.id) & (MessageRow.position == 0)
    return or_(
        ChatRow.title.ilike(pattern, escape="\\"),
        exists().where(TurnRow.chat_id == ChatRow.id, TurnRow.report.ilike(pattern, escape="\\")),
        exists().where(first, prompt.ilike(pattern, escape="\\")),
    )
