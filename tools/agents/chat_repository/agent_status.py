"""Status messages of commands: kept with their chat, and published to people."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from deskhand.desktop.agent_socket.status_messages import shortened
from deskhand.tools.secrets.chat_secrets import ChatMask
from deskhand.tools.store import chats
from deskhand.tools.store.errors import UnknownRow

from .repository import ChatRepository

Json = dict[str, Any]


class AgentStatus:
    """Keeps the newest message of each chat; ``mask`` returns the mask for a chat's secrets."""

    def __init__(
        self, repository: ChatRepository, mask: Callable[[str, Sequence[str]], ChatMask]
    ) -> None:
        self._repository = repository
        self._mask = mask

    async def publish(self, desktop_id: str, message: Json) -> None:
        """Keep a message that a desktop reports for one of the chats that work on it."""
        chat_id, text = str(message.get("chat_id")), shortened(str(message.get("text") or ""))
        dropped = message.get("dropped")
        # The chat may have been deleted meanwhile.
        with suppress(UnknownRow):
            chat, above = await self._repository.store.read_short(
                lambda session: chats.with_ancestors(session, chat_id)
            )
            root = await self._repository.view(chat.root_id)
            if not text or desktop_id not in (chat.desktop_id, root.desktop_id):
                return
            kept: Json = {
                "text": self._mask(chat_id, above).hide(text),
                "at": self._repository.now(),
                "dropped": dropped if isinstance(dropped, int) else 0,
            }
            await self._repository.change(chat_id, lambda row: setattr(row, "status_message", kept))
