"""Screenshots that models receive, kept as stored files."""

import time
from collections.abc import Callable

from deskhand.tools.conversation.conversation import Image

from .files import FileFacts
from .stored_files import LaterWrites, StoredFiles


class ChatPictures:
    """Stores the screenshots of one chat's steps."""

    def __init__(
        self,
        files: StoredFiles,
        chat_id: str,
        now: Callable[[], float],
        writes: LaterWrites | None = None,
    ) -> None:
        """Take the store of files; with ``writes`` the rows are committed with those of steps."""
        self._files = files
        self._chat_id = chat_id
        self._now = now
        self._writes = writes

    async def save(self, data: bytes, media_type: str, width: int, height: int) -> Image:
        """Store a picture of the given size in pixels and return the block that refers to it."""
        stamp = time.strftime("%Y-%m-%dT%H-%M-%SZ", time.gmtime(self._now()))
        facts = FileFacts(
            chat_id=self._chat_id,
            kind="step",
            name=f"screenshot-{stamp}.{media_type.rpartition('/')[2]}",
            media_type=media_type,
            details={"width": width, "height": height},
        )
        if self._writes is not None:
            file_id = await self._files.save_later(data, facts, self._writes)
        else:
            file_id = (await self._files.save(data, facts)).id
        return Image(file_id, media_type, width, height)
