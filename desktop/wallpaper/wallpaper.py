"""Shows a picture of the agent behind all windows.

The picture is decoded by a port with the agent's rights; the service receives pixels of exactly the
screen's size and paints them on the root window, which programs of the agent may not change.
"""

import asyncio
from pathlib import Path
from typing import Protocol

from deskhand.desktop.geometry import Size


class PictureDecoder(Protocol):
    """Decodes pictures of the agent."""

    async def pixels(self, path: Path, size: Size) -> bytes:
        """Return the pixels of a picture that fills a screen; raises ``FileError``."""


class Background(Protocol):
    """The background of the screen. Blocking; called from any thread."""

    def show(self, pixels: bytes, size: Size) -> None:
        """Show pixels of the screen's size; raises ``DisplayGone``."""


class Wallpaper:
    """The wallpaper of one screen."""

    def __init__(self, decoder: PictureDecoder, background: Background, size: Size) -> None:
        self._decoder = decoder
        self._background = background
        self._size = size
        self._changing = asyncio.Lock()

    async def show(self, path: Path) -> None:
        """Show a picture; the changes take place one after the other.

        Raises:
            FileError: If the picture cannot be read or decoded.
            DisplayGone: If there is no display.
        """
        async with self._changing:
            pixels = await self._decoder.pixels(path, self._size)
            await asyncio.to_thread(self._background.show, pixels, self._size)
