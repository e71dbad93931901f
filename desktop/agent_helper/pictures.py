"""Pictures of the agent, decoded by the helper: the port of the wallpaper."""

import asyncio
import os
from pathlib import Path

from deskhand.desktop.files.errors import BadPath, FilesUnavailable
from deskhand.desktop.geometry import Size

from .agent_helper import AgentHelper
from .errors import AgentHelperError


class HelperPictures:
    """Decodes pictures with the agent's rights."""

    def __init__(self, helper: AgentHelper) -> None:
        self._helper = helper

    async def pixels(self, path: Path, size: Size) -> bytes:
        """Return the pixels of a picture that fills a screen: blue, green, red, 0.

        Raises:
            FileError: If the picture cannot be decoded.
        """
        asked = {"path": str(path), "width": size.width, "height": size.height}
        try:
            descriptor = (await self._helper.call("picture", **asked)).descriptor()
        except AgentHelperError as error:
            raise FilesUnavailable(str(error)) from error
        data = await asyncio.to_thread(_read, descriptor, size.width * size.height * 4)
        if data is None:
            raise BadPath(f"{str(path)!r} has no pixels")
        return data


def _read(descriptor: int, length: int) -> bytes | None:
    """Return exactly so many bytes; None if the helper, under attack, has sent another file."""
    with os.fdopen(descriptor, "rb") as file:
        file.seek(0)  # The other side has the same offset.
        # Not mapped into memory: the other side could cut the file.
        data = file.read(length) if os.fstat(descriptor).st_size == length else b""
        return data if len(data) == length else None
