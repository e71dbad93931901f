"""The clipboard as text, for viewers whose clients share it over RFB."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from deskhand.desktop.errors import DesktopError
from deskhand.desktop.x11.selection import Content

from .api import ClipboardService


class ViewersText:
    """Reads and copies texts in a worker thread. ``clipboard`` may wait for a display.

    A desktop error has no place in RFB, so nothing is copied or read then.
    """

    def __init__(self, clipboard: Callable[[], ClipboardService]) -> None:
        self._clipboard = clipboard

    async def copy(self, text: str) -> None:
        """Copy a text."""
        content = Content("text/plain", text.encode())
        with suppress(DesktopError):
            await asyncio.to_thread(lambda: self._clipboard().put(content))

    async def text(self) -> str | None:
        """Return the text; None if there is none, or its program does not hand it over."""
        with suppress(DesktopError):
            found = await asyncio.to_thread(lambda: self._clipboard().get(("text/plain",)))
            return None if found is None else found.data.decode()
        return None
