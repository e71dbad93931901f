"""Rows of files, and which chat lists them."""

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.conversation.views import FileView

from .errors import UnknownRow
from .file_store import StoredFile
from .retention import Kept
from .schema import ChatFileRow, ChatRow, FileRow

Json = dict[str, Any]


@dataclass(frozen=True)
class FileFacts:
    """What a file is, apart from its bytes."""

    chat_id: str | None
    """The chat that made it."""
    kind: str
    name: str
    media_type: str
    details: Json = field(default_factory=dict)
    listed_with: str | None = None
    """The chat that shows it among its own."""


async def insert(
    session: AsyncSession, stored: StoredFile, about: FileFacts, now: float
) -> FileRow:
    """Write down a file whose bytes are stored already."""
    file = FileRow(
        id=stored.id,
        chat_id=about.chat_id,
        kind=about.kind,
        name=about.name,
        media_type=about.media_type,
        size=stored.size,
        sha256=stored.sha256,
        created_at=now,
        details=about.details,
    )
    session.add(file)
    await session.flush()
    if about.listed_with is not None:
        session.add(ChatFileRow(chat_id=about.listed_with, file_id=file.id, created_at=now))
        await session.flush()
    return file


def described(stored: StoredFile, about: FileFacts, now: float) -> str:
    """A file's row as words that are kept beside its bytes."""
    return json.dumps(
        asdict(about) | {"size": stored.size, "sha256": stored.sha256, "created_at": now}
    )


async def restore(session: AsyncSession, file_id: str, text: str) -> bool:
    """Insert the row that ``described`` told of; whether it was missing.

    Chats that are no more are left out.
    """
    if await session.get(FileRow, file_id) is not None:
        return False
    words = json.loads(text)
    stored = StoredFile(file_id, words.pop("size"), words.pop("sha256"))
    created_at = words.pop("created_at")
    for name in ("chat_id", "listed_with"):
        if words[name] is not None and await session.get(ChatRow, words[name]) is None:
            words[name] = None
    await insert(session, stored, FileFacts(**words), created_at)
    return True


async def kept(session: AsyncSession) -> list[Kept]:
    """All files as retention sees them."""
    listed = select(ChatFileRow.file_id, ChatFileRow.chat_id)
    chats = {row.file_id: row.chat_id for row in await session.execute(listed)}
    query = select(
        FileRow.id, FileRow.kind, FileRow.size, FileRow.created_at, FileRow.chat_id, FileRow.details
    )
    return [
        Kept(id, kind, size, created_at, chats.get(id, chat_id), bool(details.get("pinned")))
        for id, kind, size, created_at, chat_id, details in await session.execute(query)
    ]


async def get(session: AsyncSession, file_id: str) -> FileView:
    """Return one file as it is shown.

    Raises:
        UnknownRow: If there is none.
    """
    file = await session.get(FileRow, file_id)
    if file is None:
        raise UnknownRow("file", file_id)
    return view(file)


async def of_chat(session: AsyncSession, chat_id: str) -> tuple[FileView, ...]:
    """Return the files listed with a chat and those it made, but for its steps' pictures."""
    listed = select(ChatFileRow.file_id).where(ChatFileRow.chat_id == chat_id)
    query = select(FileRow).where(
        (FileRow.id.in_(listed)) | ((FileRow.chat_id == chat_id) & (FileRow.kind != "step"))
    )
    rows = await session.scalars(query.order_by(FileRow.created_at, FileRow.id))
    return tuple(view(file) for file in rows)


async def pin(session: AsyncSession, file_id: str, pinned: bool) -> tuple[FileView, str]:
    """Keep a file whatever its age, or no more; the file, and its words as ``described``.

    Raises:
        UnknownRow: If there is none.
    """
    file = await session.get(FileRow, file_id)
    if file is None:
        raise UnknownRow("file", file_id)
    # A new object: JSON is written only when another is put in its place.
    file.details = {k: v for k, v in file.details.items() if k != "pinned"} | (
        {"pinned": True} if pinned else {}
    )
    listed = select(ChatFileRow.chat_id).where(ChatFileRow.file_id == file_id)
    about = FileFacts(
        chat_id=file.chat_id,
        kind=file.kind,
        name=file.name,
        media_type=file.media_type,
        details=file.details,
        listed_with=await session.scalar(listed),
    )
    stored = StoredFile(file.id, file.size, file.sha256)
    return view(file), described(stored, about, file.created_at)


async def delete(session: AsyncSession, file_id: str) -> None:
    """Forget a file.

    Raises:
        UnknownRow: If there is none.
    """
    file = await session.get(FileRow, file_id)
    if file is None:
        raise UnknownRow("file", file_id)
    await session.delete(file)


def view(file: FileRow) -> FileView:
    """Return one file as it is shown."""
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
    )
