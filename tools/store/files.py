"""Rows of files, and which chat lists them."""

from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from tools.agents.views import FileView

from .errors import UnknownRow
from .file_store import Stored
from .schema import ChatFile, File

Json = dict[str, Any]


@dataclass(frozen=True)
class About:
    """What a file is, apart from its bytes."""

    chat_id: str | None
    """The chat that made it."""
    kind: str
    name: str
    media_type: str
    details: Json = field(default_factory=dict)
    listed_with: str | None = None
    """The chat that shows it among its own."""


async def insert(session: AsyncSession, stored: Stored, about: About, now: float) -> File:
    """Write down a file whose bytes are stored already."""
    file = File(
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
        session.add(ChatFile(chat_id=about.listed_with, file_id=file.id, created_at=now))
        await session.flush()
    return file


async def get(session: AsyncSession, file_id: str) -> FileView:
    """Return one file as it is shown.

    Raises:
        UnknownRow: If there is none.
    """
    file = await session.get(File, file_id)
    if file is None:
        raise UnknownRow("file", file_id)
    return view(file)


async def of_chat(session: AsyncSession, chat_id: str) -> tuple[FileView, ...]:
    """Return the files listed with a chat and those it made, but for its steps' pictures."""
    listed = select(ChatFile.file_id).where(ChatFile.chat_id == chat_id)
    query = select(File).where(
        (File.id.in_(listed)) | ((File.chat_id == chat_id) & (File.kind != "step"))
    )
    rows = await session.scalars(query.order_by(File.created_at, File.id))
    return tuple(view(file) for file in rows)


async def delete(session: AsyncSession, file_id: str) -> None:
    """Forget a file.

    Raises:
        UnknownRow: If there is none.
    """
    file = await session.get(File, file_id)
    if file is None:
        raise UnknownRow("file", file_id)
    await session.delete(file)


def view(file: File) -> FileView:
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
