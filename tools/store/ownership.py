"""Ownership of chats and files, on which the rights of credentials and people depend."""

from sqlalchemy import ColumnElement, ForeignKey, or_, select, true
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from . import chats
from .database import Store
from .schema import ChatFileRow, ChatRow, FileRow
from .tables.base import Base

EVERYONE = "*"
"""In place of a person's id: the run is shared with all people."""


class RunShareRow(Base):
    """A run that a person may see, though another one owns it."""

    __tablename__ = "run_shares"

    chat_id: Mapped[str] = mapped_column(
        ForeignKey("chats.id", ondelete="CASCADE"), primary_key=True
    )
    """The chat; those below it are shared with it."""
    person_id: Mapped[str] = mapped_column(primary_key=True)
    created_at: Mapped[float]
    created_by: Mapped[str]


def visible_to(person_id: str) -> ColumnElement[bool]:
    """Return the condition of the chats that a person may see; of all for an empty id."""
    if not person_id:
        return true()
    shared = select(RunShareRow.chat_id).where(RunShareRow.person_id.in_((person_id, EVERYONE)))
    return or_(
        ChatRow.owner == f"person:{person_id}",
        ChatRow.id.in_(shared),
        # Chats have one level of children.
        ChatRow.parent_id.in_(shared),
    )


class ChatOwnership:
    """Looks up the owners in the store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def __call__(self, kind: str, name: str) -> frozenset[str]:
        """Return the chats that own a ``chat`` or a ``file``, with their ancestors.

        A chat owns itself; an unknown one has no ancestors.
        """

        async def read(session: AsyncSession) -> frozenset[str]:
            own = {name} if kind == "chat" else await _chats_of_file(session, name)
            above = [await chats.ancestors(session, chat) for chat in own]
            return frozenset(own).union(*above)

        return await self._store.read(read)


async def _chats_of_file(session: AsyncSession, file_id: str) -> set[str]:
    made = await session.scalars(select(FileRow.chat_id).where(FileRow.id == file_id))
    listed = await session.scalars(
        select(ChatFileRow.chat_id).where(ChatFileRow.file_id == file_id)
    )
    return {chat for chat in (*made, *listed) if chat is not None}
