"""Attachments: files that an agent delivers, copied from its machine and listed with its parent."""

import asyncio
import mimetypes
from collections.abc import Awaitable, Callable
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from deskhand.tools.agents.chat_repository.repository import ChatRepository
from deskhand.tools.agents.desktops.ports import DesktopMachine
from deskhand.tools.conversation.errors import BadChatRequest
from deskhand.tools.store.files import FileFacts
from deskhand.tools.store.stored_files import StoredFiles

Json = dict[str, Any]
LONGEST_NAME = 200
"""Characters of a file's name; most file systems take 255 bytes."""


class Attachments:
    """Copies files from the machines of chats into the store."""

    def __init__(
        self,
        repository: ChatRepository,
        files: StoredFiles,
        machine: Callable[[str], Awaitable[DesktopMachine]],
    ) -> None:
        self._repository = repository
        self._files = files
        self._machine = machine

    async def attach(self, chat_id: str, path: str) -> Json:
        """Copy a file of the chat's machine and list it with the parent, if there is one.

        Raises:
            BadChatRequest: If the path is neither absolute nor begins with ``~``.
            DiskLow: If the disk of the store has too little room.
            MachineRefused: If the file does not exist or cannot be read.
        """
        if not path.startswith(("/", "~")):
            raise BadChatRequest(f"path must be absolute, as /home/…, not {path[:80]!r}")
        await self._files.check_room()
        lists = (await self._repository.view(chat_id)).parent_id or chat_id
        machine = await self._machine(chat_id)
        name = PurePosixPath(path).name[:LONGEST_NAME] or "file"
        facts = FileFacts(
            chat_id=chat_id,
            kind="attachment",
            name=name,
            media_type=mimetypes.guess_type(name)[0] or "application/octet-stream",
            details={"path": path},
            listed_with=lists,
        )
        unfinished = await asyncio.to_thread(self._files.incoming)
        try:
            await machine.download(f"/api/v0/read-file?path={quote(path, safe='')}", unfinished)
            file = await self._files.adopt(unfinished, facts)
        finally:
            # ``adopt`` has renamed it where all went well.
            await asyncio.to_thread(unfinished.unlink, missing_ok=True)
        evicted = await self._files.make_room(lists)
        for shown in {chat_id, lists}:
            self._repository.hub.publish("files", shown, {"file_id": file.id})
        result: Json = {"file_id": file.id, "name": name, "size": file.size}
        return result | ({"evicted_file_ids": evicted} if evicted else {})
