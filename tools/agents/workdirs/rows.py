"""Rows of what chats start with."""

from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from deskhand.tools.conversation.chat_start import LARGEST_FILE, ChatStart, StartFile
from deskhand.tools.conversation.errors import BadChatRequest
from deskhand.tools.store.schema import ChatFileRow, ChatRow, ChatStartRow, FileRow


@dataclass(frozen=True)
class CallStart:
    """What a call for a chat needs to know of the chat's start."""

    workdir: str = ""
    """The directory of the chat below the working directory of its root; empty for that."""
    is_placed: bool = True
    """False while the directory and its files are still to be made."""


def workdir_of(session: Session, chat_id: str) -> str:
    """Return the directory of a chat below the working directory of its root; empty for that."""
    return call_start(session, chat_id).workdir


def call_start(session: Session, chat_id: str) -> CallStart:
    """Return the start of a chat as its calls need it."""
    row = session.get(ChatStartRow, chat_id)
    return CallStart() if row is None else CallStart(row.workdir, row.files is None)


async def start_of(session: AsyncSession, chat_id: str) -> ChatStart | None:
    """Return the start of a chat without its files; None if nothing of it was given."""
    row = await session.get(ChatStartRow, chat_id)
    return None if row is None else _start(row, ())


def unplaced(session: Session, chat_id: str) -> ChatStart | None:
    """Return the start of a chat whose directory and files are not there yet."""
    row = session.get(ChatStartRow, chat_id)
    if row is None or row.files is None:
        return None
    files = tuple(
        StartFile(one["path"], one.get("content"), one.get("file_id")) for one in row.files
    )
    return _start(row, files)


def _start(row: ChatStartRow, files: tuple[StartFile, ...]) -> ChatStart:
    return ChatStart(
        *(row.workdir, files, row.template, row.profile), row.timeout_seconds, row.record
    )


async def files_placed(session: AsyncSession, chat_id: str) -> None:
    """Record that the files of a chat are in its working directory."""
    row = await session.get(ChatStartRow, chat_id)
    if row is not None:
        row.files = None


async def check_files(session: AsyncSession, start: ChatStart, root_id: str | None) -> None:
    """Check the stored files of a start.

    With ``root_id`` they must belong to this root chat or to a chat below it.

    Raises:
        BadChatRequest: If one does not exist, or is too large.
    """
    for file in start.files:
        if file.file_id is None:
            continue
        row = await session.get(FileRow, file.file_id)
        # The same text for a file of another chat: its existence is not disclosed.
        if row is None or (root_id is not None and not await _belongs(session, row, root_id)):
            raise BadChatRequest(f"files: no stored file has the id {file.file_id[:100]}")
        if row.size > LARGEST_FILE:
            raise BadChatRequest(
                f"files: {row.name} is too large: {row.size:,} of at most {LARGEST_FILE:,} bytes"
            )


async def _belongs(session: AsyncSession, file: FileRow, root_id: str) -> bool:
    of_root = select(ChatRow.id).where(ChatRow.root_id == root_id)
    if file.chat_id is not None and await session.scalar(of_root.where(ChatRow.id == file.chat_id)):
        return True
    listed = ChatFileRow.file_id == file.id, ChatFileRow.chat_id == ChatRow.id
    return await session.scalar(of_root.where(*listed).limit(1)) is not None


async def uses_of_templates(session: AsyncSession) -> dict[str, int]:
    """Return how many chats were started with each template."""
    query = select(ChatStartRow.template, func.count()).where(ChatStartRow.template.is_not(None))
    rows = await session.execute(query.group_by(ChatStartRow.template))
    return {str(name): count for name, count in rows}
