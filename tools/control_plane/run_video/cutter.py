"""Cuts stored recordings, wherever their bytes are."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from deskhand.recording.errors import RecordingError
from deskhand.tools.control_plane.errors import NotCut
from deskhand.tools.control_plane.ports import Editor, Files
from deskhand.tools.conversation.views import FileView
from deskhand.tools.store.errors import UnknownRow

from .playlist import ClipPiece

CUT_AT_ONCE = 2
"""Clips and pictures that are made at the same time."""


async def left_of(files: Files, file_ids: Sequence[str]) -> list[tuple[int, FileView]]:
    """Return the files that are left, each with its number among all, from 1."""
    found: list[tuple[int, FileView]] = []
    for number, file_id in enumerate(file_ids, start=1):
        # A person may have removed this part; the others can still be shown.
        with suppress(UnknownRow):
            found.append((number, await files.get(file_id)))
    return found


class VideoCutter:
    """Makes pieces and pictures of films; ``editor`` is asked for with the first one."""

    def __init__(self, files: Files, editor: Callable[[], Editor]) -> None:
        self._files = files
        self._editor = editor
        # Whoever looks at old films must not take the processor from those at work.
        self._cutting = asyncio.Semaphore(CUT_AT_ONCE)

    async def clip(self, pieces: Sequence[ClipPiece]) -> BinaryIO:
        """Return a video of the pieces, one behind the other; it vanishes when it is closed.

        Raises:
            NotCut: If they do not fit together, or cannot be read.
            BytesMissing: If one is nowhere.
        """
        async with self._cutting, AsyncExitStack() as stack:
            stretches = [
                (await stack.enter_async_context(self._at_hand(piece.file)), piece.start, piece.end)
                for piece in pieces
            ]
            target = await asyncio.to_thread(self._files.incoming)
            return await asyncio.to_thread(self._cut, stretches, target)

    async def still(self, piece: ClipPiece) -> bytes:
        """Return a small JPEG of a piece's first moment; raises as :meth:`clip`."""
        async with self._cutting, self._at_hand(piece.file) as path:
            return await asyncio.to_thread(self._drawn, path, piece.start)

    def _cut(self, stretches: Sequence[tuple[Path, float, float]], target: Path) -> BinaryIO:
        try:
            self._editor().cut(stretches, target)
            return target.open("rb")
        except RecordingError as error:
            raise NotCut(f"{error}") from error
        finally:
            target.unlink(missing_ok=True)

    def _drawn(self, path: Path, at: float) -> bytes:
        try:
            return self._editor().still(path, at)
        except RecordingError as error:
            raise NotCut(f"{error}") from error

    @asynccontextmanager
    async def _at_hand(self, file: FileView) -> AsyncIterator[Path]:
        """Give a path of a file's bytes that stays, whoever moves or removes them meanwhile."""
        opened = await self._opened(file)
        with opened:
            yield Path(f"/proc/self/fd/{opened.fileno()}")

    async def _opened(self, file: FileView) -> BinaryIO:
        try:
            return await asyncio.to_thread(self._files.path(file.id).open, "rb")
        except FileNotFoundError:
            return await self._fetched(file)

    async def _fetched(self, file: FileView) -> BinaryIO:
        unfinished = await asyncio.to_thread(self._files.incoming)
        try:
            with unfinished.open("wb") as target:
                async for chunk in self._files.stream(file.id, 0, file.size):
                    target.write(chunk)
            return unfinished.open("rb")
        finally:
            unfinished.unlink(missing_ok=True)
