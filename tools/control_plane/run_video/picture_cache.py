"""Pictures of a run that are made on request, and kept beside its recordings."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from deskhand.tools.control_plane.ports import Files
from deskhand.tools.conversation.views import FileView
from deskhand.tools.store.errors import StoreError

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class PictureFile:
    """What identifies a picture of a run, and how it is stored."""

    chat_id: str
    tag: str
    """Of all that the picture depends on."""
    name: str
    media_type: str


class PictureCache:
    """Pictures by their tags; each is made once, by the first request for it."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._making: dict[tuple[str, str], asyncio.Lock] = {}

    async def get(
        self, wanted: PictureFile, make: Callable[[], Awaitable[bytes]]
    ) -> FileView | bytes:
        """Return the stored picture, or its bytes where the disk has no room for it."""
        key = (wanted.chat_id, wanted.tag)
        lock = self._making.setdefault(key, asyncio.Lock())
        try:
            async with lock:
                for known in await self._files.pictures(wanted.chat_id):
                    if known.metadata.get("tag") == wanted.tag:
                        return known
                data = await make()
                try:
                    return await self._files.keep_picture(
                        wanted.chat_id, data, wanted.name, wanted.media_type, wanted.tag
                    )
                except (StoreError, OSError) as error:
                    log.warning("%s of chat %s is not kept: %s", wanted.name, wanted.chat_id, error)
                    return data
        finally:
            if not lock.locked():
                self._making.pop(key, None)
