"""The pictures that models see, among the stored files."""

import time

from deskhand.tools.agents.desktops.ports import Now
from deskhand.tools.conversation.conversation import Picture
from deskhand.tools.store.files import About
from deskhand.tools.store.stored_files import StoredFiles


class ChatPictures:
    """Keeps the pictures of one chat's steps."""

    def __init__(self, files: StoredFiles, chat_id: str, now: Now) -> None:
        self._files = files
        self._chat_id = chat_id
        self._now = now

    async def save(self, data: bytes, media_type: str, width: int, height: int) -> Picture:
        """Keep a picture of that size in pixels."""
        stamp = time.strftime("%Y-%m-%dT%H-%M-%SZ", time.gmtime(self._now()))
        about = About(
            chat_id=self._chat_id,
            kind="step",
            name=f"screenshot-{stamp}.{media_type.rpartition('/')[2]}",
            media_type=media_type,
            details={"width": width, "height": height},
        )
        view = await self._files.save(data, about)
        return Picture(view.id, media_type, width, height)
