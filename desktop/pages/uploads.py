"""Files that a page gets: copies of files that the agent may read.

The browser has a user of its own, which may read what the agent may not, such as its profile. So
the agent's file is opened with the agent's rights, and the browser gets a copy.
"""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import BinaryIO

from .errors import BrowserCallFailed

LARGEST = 256 * 1024 * 1024
"""Bytes of all copies of a desktop; the oldest are removed for new ones."""
_CHUNK = 1024 * 1024


class UploadCopies:
    """Copies below one folder that the browser can read; ``open_file`` has the agent's rights."""

    def __init__(
        self,
        folder: Path,
        open_file: Callable[[Path], Awaitable[BinaryIO]],
        refusal: Callable[[], str] = lambda: "",
    ) -> None:
        """``refusal`` returns why no new content is accepted; empty if the disk is not low."""
        self._folder = folder
        self._open_file = open_file
        self._refusal = refusal
        self._kept: list[tuple[Path, int]] = []

    async def copied(self, paths: Sequence[str], base: Path) -> list[str]:
        """Copy files; return the paths of the copies. Relative paths are below ``base``.

        Raises:
            FileError: If the agent may not read one.
            BrowserCallFailed: If they are too large.
        """
        copies: list[str] = []
        if reason := self._refusal():
            raise BrowserCallFailed(507, reason)
        for path in paths:
            with await self._open_file(base / path) as source:
                copies.append(await asyncio.to_thread(self._copy, source, Path(path).name))
        return copies

    async def check_readable(self, path: Path) -> None:
        """Check that the agent may read a file. Raises FileError."""
        (await self._open_file(path)).close()

    def _copy(self, source: BinaryIO, name: str) -> str:
        size = os.fstat(source.fileno()).st_size
        if size > LARGEST:
            raise BrowserCallFailed(413, f"{name} is too large: at most {LARGEST} bytes.")
        self._folder.mkdir(mode=0o755, exist_ok=True)
        self._folder.chmod(0o755)
        while self._kept and sum(kept for _, kept in self._kept) + size > LARGEST:
            shutil.rmtree(self._kept.pop(0)[0], ignore_errors=True)
        own = Path(tempfile.mkdtemp(dir=self._folder))
        own.chmod(0o755)
        copy = own / name
        with copy.open("wb") as target:
            left = LARGEST
            while left > 0 and (data := source.read(min(_CHUNK, left))):
                target.write(data)
                left -= len(data)
        copy.chmod(0o644)
        self._kept.append((own, size))
        return str(copy)
