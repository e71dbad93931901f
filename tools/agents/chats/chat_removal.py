"""Archiving and deletion of chats with their children, desktops and files."""

from collections.abc import Callable
from contextlib import suppress

from deskhand.tools.agents.chat_repository.repository import ChatRepository
from deskhand.tools.conversation.errors import Conflict
from deskhand.tools.conversation.states import StateEvent
from deskhand.tools.store import chats
from deskhand.tools.store.errors import UnknownRow
from deskhand.tools.store.retention import DAY, RetentionLimits
from deskhand.tools.store.stored_files import StoredFiles

from .desktop_assignment import DesktopAssignment
from .subagents import ChildChats


class ChatRemoval:
    """Archives and deletes chats; ``on_removed`` is called with the id of each deleted one."""

    def __init__(
        self,
        repository: ChatRepository,
        children: ChildChats,
        assignment: DesktopAssignment,
        stored_files: StoredFiles,
        on_removed: Callable[[str], None],
    ) -> None:
        self._repository = repository
        self._children = children
        self._assignment = assignment
        self._files = stored_files
        self._on_removed = on_removed

    async def release(self, desktop_id: str) -> None:
        """Stop the chats that work on a desktop, and return when their recordings are stored."""
        for row in await self._repository.store.read(chats.with_desktop):
            if row.desktop_id == desktop_id:
                with suppress(Conflict, UnknownRow):
                    await self._children.end(row.id)

    async def archive(self, chat_id: str) -> None:
        """Archive a chat at rest with its children; their desktops end.

        Raises:
            Conflict: If the chat is at work.
        """
        await self._repository.move(chat_id, StateEvent.ARCHIVE)
        for row in await self._repository.store.read(lambda s: chats.with_descendants(s, chat_id)):
            await self._children.end(row.id)
            if row.id != chat_id and not row.archived:
                await self._repository.move(row.id, StateEvent.ARCHIVE)

    async def delete(self, chat_id: str) -> None:
        """Delete a chat with its children, files and recordings, in any state."""
        rows = await self._repository.store.read(lambda s: chats.with_descendants(s, chat_id))
        # Children first; the rows are deleted together when all tasks have ended.
        for row in reversed(rows):
            await self._children.end(row.id)
        removed = await self._repository.store.write(lambda s: chats.delete_tree(s, chat_id))
        # After the rows: a crash in between leaves bytes without a row, which only cost room.
        await self._files.discard(removed)
        await self._assignment.forget(chat_id)
        for row in rows:
            self._repository.waits.remove(row.id)
            self._on_removed(row.id)
            self._repository.hub.publish("deleted", row.id)

    async def remove_archived(self, days: float = RetentionLimits.archived_days) -> tuple[str, ...]:
        """Delete the chats that were archived so long ago, except pinned ones; return their ids."""
        before = self._repository.now() - days * DAY
        removed = await self._repository.store.read(lambda s: chats.archived_before(s, before))
        for chat_id in removed:
            await self.delete(chat_id)
        return tuple(removed)
