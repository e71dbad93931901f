"""Files that an agent hands over: fetched from its machine, listed with its parent."""

import asyncio
import mimetypes
from collections.abc import Awaitable, Callable
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from deskhand.tools.agents.desktops.ports import DesktopMachine
from deskhand.tools.conversation.errors import BadChatRequest
from deskhand.tools.store.files import FileFacts
from deskhand.tools.store.stored_files import StoredFiles

from .repository import ChatRepository

Json = dict[str, Any]
LONGEST_NAME = 200


class Attachments:
    """Takes files from the machines of chats into the store."""

    def __init__(
        self,
        book: ChatRepository,
        files: StoredFiles,
        machine: Callable[[str], Awaitable[DesktopMachine]],
    ) -> None:
        self._book = book
        self._files = files
        self._machine = machine

    async def attach(self, chat_id: str, path: str) -> Json:
        """Copy a file of the chat's machine and list it with the parent, if there is one.

        Raises:
            BadRequest: If the path is not absolute.
            MachineRefused: If there is no such file, or it cannot be read.
        """
        if not path.startswith("/"):
            raise BadChatRequest(f"path must be absolute, as /home/…, not {path[:80]!r}")
        lists = (await self._book.view(chat_id)).parent_id or chat_id
        machine = await self._machine(chat_id)
        name = PurePosixPath(path).name[:LONGEST_NAME] or "file"
        about = FileFacts(
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
            file = await self._files.adopt(unfinished, about)
        finally:
            await asyncio.to_thread(unfinished.unlink, missing_ok=True)
        evicted = await self._files.make_room(lists)
        for shown in {chat_id, lists}:
            self._book.hub.publish("files", shown, {"file_id": file.id})
        told: Json = {"file_id": file.id, "name": name, "size": file.size}
        return told | ({"evicted_file_ids": evicted} if evicted else {})
