"""Queries on the rows of recordings that dead desktops left, and on the turns that own them."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.conversation.run_recording import (
    FetchedRecording,
    StayingRecording,
    session,
    video_times,
    with_session,
    without_addresses,
)
from deskhand.tools.store import files, steps
from deskhand.tools.store.errors import UnknownRow
from deskhand.tools.store.file_store import StoredFile
from deskhand.tools.store.files import FileFacts
from deskhand.tools.store.schema import ChatRow, FileRow, LeftRecordingRow, TurnRow

from .ports import LeftRecording
from .states import LeftState

Json = dict[str, Any]

CLOCK_SLACK = 1.0
"""Seconds by which a recording may seem to begin before its turn."""


async def known(db: AsyncSession, left: LeftRecording, now: float) -> LeftRecordingRow:
    """Return the row of a recording; insert it when the recording is found for the first time."""
    query = select(LeftRecordingRow).where(
        LeftRecordingRow.desktop_id == left.desktop_id,
        LeftRecordingRow.recording_id == left.recording_id,
    )
    row = await db.scalar(query)
    if row is None:
        row = LeftRecordingRow(
            id=str(uuid.uuid4()),
            desktop_id=left.desktop_id,
            recording_id=left.recording_id,
            state=LeftState.LEFT.value,
            found_at=now,
            stored_at=None,
            staying=None,
        )
        db.add(row)
        await db.flush()
    return row


async def unfinished(db: AsyncSession) -> list[LeftRecordingRow]:
    """Return the rows of recordings that are not removed yet."""
    query = select(LeftRecordingRow).where(LeftRecordingRow.state != LeftState.REMOVED.value)
    return list(await db.scalars(query.order_by(LeftRecordingRow.found_at)))


async def found_of(
    db: AsyncSession, recording_id: str, desktop_ids: Sequence[str]
) -> list[LeftRecordingRow]:
    """Return the rows of a recording on some of its desktops."""
    query = select(LeftRecordingRow).where(
        LeftRecordingRow.recording_id == recording_id, LeftRecordingRow.desktop_id.in_(desktop_ids)
    )
    return list(await db.scalars(query))


async def stored(db: AsyncSession, desktop_id: str, recording_id: str) -> bool:
    """Return whether a desktop's recording was stored."""
    query = select(LeftRecordingRow.stored_at).where(
        LeftRecordingRow.desktop_id == desktop_id, LeftRecordingRow.recording_id == recording_id
    )
    return await db.scalar(query) is not None


async def leave(
    db: AsyncSession, left: LeftRecording, take: StayingRecording | None, now: float
) -> None:
    """Add a take to the row of a recording; ``None`` is one to store when its desktop has ended."""
    row = await known(db, left, now)
    # A new list: SQLAlchemy does not notice changes within a JSON value.
    row.staying = [*(row.staying or []), asdict(take) if take else {}]


async def staying(db: AsyncSession, desktop_id: str) -> list[LeftRecordingRow]:
    """Return the rows of the recordings that are on a desktop that runs."""
    found = await unfinished(db)
    return [row for row in found if row.desktop_id == desktop_id and row.staying]


async def is_over(db: AsyncSession, chat_id: str, started_at: float) -> bool:
    """Return whether the turn has ended that a recording shows, or the chat was deleted."""
    turn = _turn_at(await _turns(db, chat_id), started_at)
    return turn is None or turn.ended_at is not None


async def add_fetched(
    db: AsyncSession, row_id: str, chat_id: str, take: Json, found: FetchedRecording
) -> list[str]:
    """Add a copied take to its turn, and remove it from its row, with the last one the row.

    Return ids of files whose rows were deleted: those of attempts that failed.

    Raises:
        UnknownRow: If the chat was deleted.
    """
    metadata = take["metadata"]
    turn = _turn_at(await _turns(db, chat_id), metadata["started_at"])
    if turn is None or found.session is None:
        raise UnknownRow("turn", chat_id)
    new = {part["file_id"] for part in found.session.parts} | {found.session.thumbnail_file_id}
    others = [file for file in await _files_of(db, chat_id, metadata) if file.id not in new]
    for file in others:
        await db.delete(file)
    turn.recording = with_session(turn.recording, found.session)
    await steps.place_in_video(db, chat_id, turn.number, found.video_times)
    row = await db.get_one(LeftRecordingRow, row_id)
    row.staying = [one for one in row.staying or [] if one != take]
    if not row.staying:
        await db.delete(row)
    return [file.id for file in others]


async def move(db: AsyncSession, row_id: str, state: LeftState) -> None:
    """Write the next state of a row."""
    row = await db.get_one(LeftRecordingRow, row_id)
    row.state = state.value


async def owned(db: AsyncSession, recording_id: str) -> bool:
    """Return whether the recording belongs to a turn of a chat."""
    return bool(await _turns(db, recording_id))


async def _turns(db: AsyncSession, chat_id: str) -> list[TurnRow]:
    query = select(TurnRow).where(TurnRow.chat_id == chat_id).order_by(TurnRow.number)
    return list(await db.scalars(query))


def _turn_at(turns: Sequence[TurnRow], started_at: float) -> TurnRow | None:
    """Return the turn that a recording shows, of those of its chat."""
    began = [turn for turn in turns if turn.started_at <= started_at + CLOCK_SLACK]
    return next(iter([*reversed(began), *turns]), None)


async def is_stored(db: AsyncSession, chat_id: str, metadata: Json) -> bool:
    """Return whether a turn has the files of a session already, as its desktop died after that."""
    listed = {
        file_id
        for turn in await _turns(db, chat_id)
        for file_id in turn.recording.get("file_ids") or []
    }
    return any(row.id in listed for row in await _files_of(db, chat_id, metadata))


async def remove_strays(db: AsyncSession, chat_id: str, metadata: Json) -> list[str]:
    """Delete rows of files that an earlier, interrupted storing of a session left; return ids."""
    strays = await _files_of(db, chat_id, metadata)
    for row in strays:
        await db.delete(row)
    await db.flush()
    return [row.id for row in strays]


async def _files_of(db: AsyncSession, chat_id: str, metadata: Json) -> list[FileRow]:
    query = select(FileRow).where(
        FileRow.chat_id == chat_id, FileRow.kind.in_(("recording", "thumbnail"))
    )
    same = ("id", "take", "started_at")
    return [
        row
        for row in await db.scalars(query)
        if all(row.details.get(key) == metadata.get(key) for key in same)
    ]


def facts(chat: ChatRow, metadata: Json, name: str, *, thumbnail: bool) -> FileFacts:
    """Return the properties of a file of a session."""
    return FileFacts(
        chat_id=chat.id,
        kind="thumbnail" if thumbnail else "recording",
        name=name,
        media_type="image/jpeg" if thumbnail else "video/mp4",
        details=without_addresses(metadata),
        listed_with=chat.parent_id or chat.id,
    )


async def add_session(
    db: AsyncSession,
    chat_id: str,
    metadata: Json,
    videos: Sequence[tuple[StoredFile, FileFacts]],
    thumbnail: tuple[StoredFile, FileFacts] | None,
    now: float,
) -> None:
    """Insert the rows of a session's files, and add the session to the turn that it shows.

    Raises:
        UnknownRow: If the chat was deleted.
    """
    turn = _turn_at(await _turns(db, chat_id), metadata["started_at"])
    if turn is None:
        raise UnknownRow("turn", chat_id)
    for one, properties in (*videos, *((thumbnail,) if thumbnail else ())):
        await files.insert(db, one, properties, now)
    sizes: Mapping[int, int] = {n: one.size for n, (one, _) in enumerate(videos)}
    parts = [part | {"bytes": sizes[n]} for n, part in enumerate(metadata["parts"])]
    added = session(
        metadata | {"parts": parts},
        [one.id for one, _ in videos],
        thumbnail[0].id if thumbnail else None,
    )
    turn.recording = with_session(turn.recording, added)
    await steps.place_in_video(db, chat_id, turn.number, video_times(metadata["steps"], chat_id))


async def finish(db: AsyncSession, row_id: str, now: float) -> None:
    """Write that a recording is stored."""
    row = await db.get_one(LeftRecordingRow, row_id)
    row.state, row.stored_at = LeftState.STORED.value, now
