"""Queries on the rows of files, and on the chats that list them."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from sqlalchemy import Connection, func, select, update
from sqlalchemy import delete as delete_rows
from sqlalchemy import insert as insert_into
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from deskhand.tools.conversation.views import FileView

from .errors import UnknownRow
from .file_store import StoredFile
from .packs.pack import PackedPicture
from .retention import Kept
from .schema import ChatFileRow, ChatRow, FileRow

Json = dict[str, Any]

PICTURE = "picture"
"""Kind of the files that are made on request of the recordings of a run, as contact sheets."""
_INSERTING = insert_into(FileRow.__table__)  # type: ignore[arg-type]
_LISTING = insert_into(ChatFileRow.__table__)  # type: ignore[arg-type]
AT_ONCE = 500
"""Rows that one statement deletes; SQLite has a limit on the parameters of a statement."""


@dataclass(frozen=True)
class FileFacts:
    """Properties of a file other than its bytes."""

    chat_id: str | None
    """The chat that made it."""
    kind: str
    name: str
    media_type: str
    details: Json = field(default_factory=dict)
    listed_with: str | None = None
    """The chat in whose list the file appears: of a child's file, the parent."""


async def insert(
    session: AsyncSession, stored: StoredFile, facts: FileFacts, now: float
) -> FileView:
    """Insert the row of a file whose bytes are stored already."""
    # A statement of a connection does not flush the session.
    await session.flush()
    return await session.run_sync(lambda s: insert_short(s.connection(), stored, facts, now))


def insert_short(
    connection: Connection, stored: StoredFile, facts: FileFacts, now: float
) -> FileView:
    """Do as `insert`, in a thread."""
    row: Json = {
        "id": stored.id,
        "chat_id": facts.chat_id,
        "kind": facts.kind,
        "name": facts.name,
        "media_type": facts.media_type,
        "size": stored.size,
        "sha256": stored.sha256,
        "created_at": now,
        "waits": stored.waits,
    }
    connection.execute(_INSERTING, {**row, "details": facts.details})
    if facts.listed_with is not None:
        # After the row of the file, to which the foreign key of this one refers.
        listed = {"chat_id": facts.listed_with, "file_id": stored.id, "created_at": now}
        connection.execute(_LISTING, listed)
    return FileView(**row, metadata=facts.details)


def described(stored: StoredFile, facts: FileFacts, now: float) -> str:
    """Return the description of a file, from which :func:`restore` can insert the row again."""
    return json.dumps(
        asdict(facts) | {"size": stored.size, "sha256": stored.sha256, "created_at": now}
    )


async def restore(session: AsyncSession, file_id: str, text: str, *, waits: bool = False) -> bool:
    """Insert the row for a description of :func:`described`; return whether it was missing.

    ``waits`` is true if the bytes must still be moved to a bucket. References to chats that do not
    exist any more are left out.
    """
    if await session.get(FileRow, file_id) is not None:
        return False
    fields = json.loads(text)
    stored = StoredFile(file_id, fields.pop("size"), fields.pop("sha256"), waits)
    created_at = fields.pop("created_at")
    for name in ("chat_id", "listed_with"):
        if fields[name] is not None and await session.get(ChatRow, fields[name]) is None:
            # The foreign keys would refuse the row; a lost database takes its chats with it.
            fields[name] = None
    await insert(session, stored, FileFacts(**fields), created_at)
    return True


async def kept(session: AsyncSession) -> list[Kept]:
    """Return all files with the properties that retention depends on."""
    listed = select(ChatFileRow.file_id, ChatFileRow.chat_id)
    # An attachment of a child counts for the parent, in whose list it appears.
    chats = {row.file_id: row.chat_id for row in await session.execute(listed)}
    query = select(
        *(FileRow.id, FileRow.kind, FileRow.size, FileRow.created_at, FileRow.chat_id),
        *(FileRow.details, FileRow.waits),
    )
    return [
        Kept(
            *(id, kind, size, created_at, chats.get(id, chat_id), bool(details.get("pinned"))),
            waits=waits,
        )
        for id, kind, size, created_at, chat_id, details, waits in await session.execute(query)
    ]


async def forget_packs(session: AsyncSession, packs: Sequence[str]) -> None:
    """Write that the bucket has no such packs."""
    for start in range(0, len(packs), AT_ONCE):
        some = FileRow.pack.in_(packs[start : start + AT_ONCE])
        await session.execute(update(FileRow).where(some).values(pack=None, pack_start=None))


async def restore_packed(
    session: AsyncSession, pack: str, pictures: Sequence[PackedPicture]
) -> int:
    """Write where the pictures of a pack are that no row names; return how many had no row."""
    missing = 0
    for picture in pictures:
        missing += await restore(session, picture.id, picture.description)
        some = FileRow.id == picture.id, FileRow.pack.is_(None)
        places = {"pack": pack, "pack_start": picture.start, "waits": False}
        await session.execute(update(FileRow).where(*some).values(**places))
    return missing


@dataclass(frozen=True)
class PackPlace:
    """Position of a picture in a pack of the bucket."""

    pack: str
    start: int
    size: int


async def place(session: AsyncSession, file_id: str) -> PackPlace | None:
    """Return where the bytes of a file are in the bucket; ``None`` if it is an object there."""
    query = select(FileRow.pack, FileRow.pack_start, FileRow.size).where(FileRow.id == file_id)
    row = (await session.execute(query)).one_or_none()
    if row is None or row.pack is None:
        return None
    return PackPlace(row.pack, row.pack_start, row.size)


async def packs(session: AsyncSession) -> dict[str, str]:
    """Return the packs of all packed files, by the ids of these."""
    query = select(FileRow.id, FileRow.pack).where(FileRow.pack.is_not(None))
    return {row.id: row.pack for row in await session.execute(query)}


async def get(session: AsyncSession, file_id: str) -> FileView:
    """Return the view of one file.

    Raises:
        UnknownRow: If the file does not exist.
    """
    file = await session.get(FileRow, file_id)
    if file is None:
        raise UnknownRow("file", file_id)
    return view(file)


async def total_size(session: AsyncSession) -> int:
    """Return the bytes of all files, wherever they are."""
    return await session.scalar(select(func.sum(FileRow.size))) or 0


async def existing(session: AsyncSession, file_ids: Sequence[str]) -> dict[str, FileView]:
    """Return the views of those of the files that exist, by their ids."""
    rows = await session.scalars(select(FileRow).where(FileRow.id.in_(file_ids)))
    return {file.id: view(file) for file in rows}


async def of_chat(session: AsyncSession, chat_id: str) -> tuple[FileView, ...]:
    """Return the files listed with a chat and those it made, without pictures of steps and runs."""
    listed = select(ChatFileRow.file_id).where(ChatFileRow.chat_id == chat_id)
    query = select(FileRow).where(
        (FileRow.id.in_(listed))
        | ((FileRow.chat_id == chat_id) & FileRow.kind.not_in(("step", PICTURE)))
    )
    rows = await session.scalars(query.order_by(FileRow.created_at, FileRow.id))
    return tuple(view(file) for file in rows)


async def pictures(session: AsyncSession, chat_id: str) -> tuple[FileView, ...]:
    """Return the pictures that were made of the recordings of a chat."""
    query = select(FileRow).where(FileRow.chat_id == chat_id, FileRow.kind == PICTURE)
    return tuple(view(file) for file in await session.scalars(query))


async def pin(session: AsyncSession, file_id: str, pinned: bool) -> tuple[FileView, str]:
    """Exempt a file from retention, or not any more; return its view and its new description.

    Raises:
        UnknownRow: If the file does not exist.
    """
    file = await session.get(FileRow, file_id)
    if file is None:
        raise UnknownRow("file", file_id)
    # A new dictionary: SQLAlchemy does not notice changes within a JSON value.
    file.details = {k: v for k, v in file.details.items() if k != "pinned"} | (
        {"pinned": True} if pinned else {}
    )
    listed = select(ChatFileRow.chat_id).where(ChatFileRow.file_id == file_id)
    facts = FileFacts(
        chat_id=file.chat_id,
        kind=file.kind,
        name=file.name,
        media_type=file.media_type,
        details=file.details,
        listed_with=await session.scalar(listed),
    )
    stored = StoredFile(file.id, file.size, file.sha256)
    return view(file), described(stored, facts, file.created_at)


async def finish_waiting(session: AsyncSession, file_ids: Sequence[str]) -> frozenset[str]:
    """Write that the bucket has the bytes of files; return the ids of those that have a row."""
    known: set[str] = set()
    for start in range(0, len(file_ids), AT_ONCE):
        some = FileRow.id.in_(file_ids[start : start + AT_ONCE])
        known.update(await session.scalars(select(FileRow.id).where(some)))
        await session.execute(update(FileRow).where(some, FileRow.waits).values(waits=False))
    return frozenset(known)


async def delete(session: AsyncSession, file_id: str) -> list[str]:
    """Delete the row of a file; return as :func:`delete_existing`.

    Raises:
        UnknownRow: If the file does not exist.
    """
    if await session.get(FileRow, file_id) is None:
        raise UnknownRow("file", file_id)
    return await delete_existing(session, [file_id])


async def delete_existing(session: AsyncSession, file_ids: Sequence[str]) -> list[str]:
    """Delete the rows of those of the files that exist.

    Return the ids of what may be removed then: these files, and the packs that no row names any
    more.
    """
    ordered = sorted(file_ids)
    packs: set[str] = set()
    for start in range(0, len(ordered), AT_ONCE):
        some = ordered[start : start + AT_ONCE]
        packs |= await _locked_packs(session, some)
        await session.execute(delete_rows(FileRow).where(FileRow.id.in_(some)))
    for start in range(0, len(asked := sorted(packs)), AT_ONCE):
        named = select(FileRow.pack).where(FileRow.pack.in_(asked[start : start + AT_ONCE]))
        packs -= {pack for pack in await session.scalars(named.distinct()) if pack is not None}
    return [*file_ids, *sorted(packs)]


async def _locked_packs(session: AsyncSession, file_ids: Sequence[str]) -> set[str]:
    """Lock the rows of files, and of all others in their packs; return the packs."""
    # Of two transactions that delete the last rows of a pack, the second one must find that it is
    # the last; without the locks each would leave the pack to the other. The order of the locks
    # keeps the two from waiting for each other.
    same = aliased(FileRow)
    theirs = select(same.pack).where(same.id.in_(file_ids), same.pack.is_not(None))
    these = FileRow.id.in_(file_ids) | FileRow.pack.in_(theirs)
    query = select(FileRow.pack).where(these).order_by(FileRow.id).with_for_update()
    return {pack for pack in await session.scalars(query) if pack is not None}


def view(file: FileRow) -> FileView:
    """Return the view of a row."""
    return FileView(
        id=file.id,
        chat_id=file.chat_id,
        kind=file.kind,
        name=file.name,
        media_type=file.media_type,
        size=file.size,
        sha256=file.sha256,
        created_at=file.created_at,
        metadata=file.details,
        waits=file.waits,
    )
