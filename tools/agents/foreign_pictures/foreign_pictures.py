"""Pictures that servers of ``.mcp.json`` return, as a model may see them.

The bytes are foreign: a worker of the decoder decodes them, and only a picture that it can decode,
within the limits of our own pictures, is stored. Like a screenshot it is kept as a file of the
chat, and messages refer to it.
"""

import asyncio
from collections.abc import Callable

from deskhand.tools.conversation.conversation import Image
from deskhand.tools.decoder.errors import DecoderEnded, NotDecodable
from deskhand.tools.kit.mcp_tools import UnusablePicture
from deskhand.tools.store.pictures import ChatPictures
from deskhand.tools.store.stored_files import StoredFiles

LARGEST = 200_000
"""Bytes of a picture."""
WIDEST, HIGHEST = 1280, 720

_TYPES = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"))

Pixels = Callable[[bytes], tuple[int, int, bytes]]
"""Decodes a picture to its width, height and RGB bytes. Blocks; raises as `Decoder.pixels`."""


class StoredForeignPictures:
    """Implements the port of the tools."""

    def __init__(self, files: StoredFiles, pixels: Pixels, now: Callable[[], float]) -> None:
        self._files = files
        self._pixels = pixels
        self._now = now

    async def keep(self, chat_id: str, data: bytes) -> Image:
        """Store a picture.

        Raises:
            UnusablePicture: If it cannot be decoded, or is larger than permitted.
        """
        media_type = _media_type(data)
        if len(data) > LARGEST:
            raise UnusablePicture(f"{len(data)} bytes, at most {LARGEST}")
        try:
            width, height, _ = await asyncio.to_thread(self._pixels, data)
        except (NotDecodable, DecoderEnded) as error:
            raise UnusablePicture(str(error)) from error
        if width > WIDEST or height > HIGHEST:
            raise UnusablePicture(f"{width}x{height}, at most {WIDEST}x{HIGHEST}")
        pictures = ChatPictures(self._files, chat_id, self._now)
        return await pictures.save(data, media_type, width, height)


def _media_type(data: bytes) -> str:
    """Return the type that the bytes have, whatever the server claims."""
    for begin, media_type in _TYPES:
        if data.startswith(begin):
            return media_type
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    raise UnusablePicture("neither PNG, JPEG nor WebP")
