"""The agent's configuration files, opened by the agent helper with the agent's user."""

import asyncio
import os
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

from deskhand.desktop.files.api import AgentFiles
from deskhand.desktop.files.errors import FileError, MissingFile

from .config_file import LARGEST_FILE
from .ports import ConfigFile

SECONDS = 10.0
"""Time to open and read one file, which may lie on a file system of the agent."""


class AgentConfigFiles:
    """Implements `ConfigFiles` over the port of the file routes."""

    def __init__(self, files: AgentFiles, paths: Sequence[Path]) -> None:
        self._files = files
        self._paths = paths

    async def stamps(self) -> Sequence[ConfigFile]:
        """Return the files without their content."""
        return [await self._file(path, read=False) for path in self._paths]

    async def read(self) -> Sequence[ConfigFile]:
        """Return the files with their content."""
        return [await self._file(path, read=True) for path in self._paths]

    async def changes(self) -> AsyncGenerator[None, None]:
        """Yield when the first file that exists is observed, and after each change of it."""
        for path in self._paths:
            try:
                stream = await self._files.watch(path, recursive=False)
            except (FileError, OSError):
                continue
            try:
                yield
                while await stream.next() is not None:
                    yield
            finally:
                stream.close()
            return

    async def _file(self, path: Path, *, read: bool) -> ConfigFile:
        try:
            async with asyncio.timeout(SECONDS):
                file = await self._files.open(path)
                with file:
                    facts = os.fstat(file.fileno())
                    # One byte more, so that a file that is too large is seen to be.
                    content = await asyncio.to_thread(file.read, LARGEST_FILE + 1) if read else None
        except MissingFile:
            return ConfigFile(str(path), None)
        except (FileError, OSError, TimeoutError) as error:
            return ConfigFile(str(path), None, str(error) or f"it cannot be read in {SECONDS:g} s")
        return ConfigFile(str(path), (facts.st_mtime_ns, facts.st_size), content=content)
