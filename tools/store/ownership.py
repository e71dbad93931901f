"""Ownership of chats and files, on which the rights of a credential for one chat depend."""

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from . import chats
from .database import Store
from .schema import ChatFileRow, FileRow


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
