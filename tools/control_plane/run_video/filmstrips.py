"""Film strips of run videos as stored pictures, made as soon as a recording is stored."""

import logging

from deskhand.tools.control_plane.errors import ControlPlaneError
from deskhand.tools.control_plane.ports import Chats, Files
from deskhand.tools.conversation.errors import ChatError
from deskhand.tools.conversation.views import FileView
from deskhand.tools.store.errors import StoreError

from .cutter import VideoCutter, run_video_of
from .filmstrip import is_exact, moments
from .picture_cache import PictureCache, PictureFile
from .playlist import clip_etag

log = logging.getLogger(__name__)
MEDIA_TYPE = "image/jpeg"


class Filmstrips:
    """Makes each film strip once, however many pages and the task ask for it."""

    def __init__(self, chats: Chats, files: Files, cutter: VideoCutter) -> None:
        self._chats = chats
        self._files = files
        self.cutter = cutter
        self._pictures = PictureCache(files)

    async def get(self, chat_id: str) -> FileView | bytes:
        """Return the strip of a run, or its bytes where the disk has no room for it.

        Raises ``UnknownRow`` if the run has no video, and the same as ``VideoCutter.sprite``.
        """
        _, found = await run_video_of(self._chats, self._files, chat_id)
        tiles = moments(found)
        wanted = PictureFile(chat_id, f"{clip_etag(tiles)}-strip", "filmstrip.jpg", MEDIA_TYPE)
        return await self._pictures.get(
            wanted, lambda: self.cutter.sprite(tiles, exact=is_exact(found))
        )

    async def run(self) -> None:
        """Make the strip of each recording that is stored from now on, until it is cancelled.

        A strip that is not made here is made by the first page that shows it.
        """
        events = self._chats.events(None)
        made: tuple[str, object] | None = None
        try:
            while True:
                event = await anext(events)
                stored = event.chat_id, event.data.get("thumbnail_file_id")
                if event.data.get("recording_status") == "stored" and stored != made:
                    made = stored
                    await self._make(event.chat_id)
        except StopAsyncIteration:
            return
        finally:
            await events.aclose()

    async def _make(self, chat_id: str) -> None:
        try:
            await self.get(chat_id)
        except (ControlPlaneError, ChatError, StoreError, OSError) as error:
            # The recording may be deleted by now; the next one must be made all the same.
            log.info("no film strip of chat %s yet: %s", chat_id, error)
