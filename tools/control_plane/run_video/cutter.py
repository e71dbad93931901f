"""Clips and pictures of stored recordings, whose bytes are on this disk or in a bucket."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO, TypeVar

from deskhand.recording.errors import RecordingError
from deskhand.tools.control_plane.errors import NotCut
from deskhand.tools.control_plane.ports import Chats, Editor, Files, SheetCell
from deskhand.tools.conversation.views import ChatView, FileView
from deskhand.tools.store.errors import UnknownRow

from .filmstrip import COLUMNS, TILE
from .playlist import ClipPiece, RunVideo, run_video

Made = TypeVar("Made")
CUT_AT_ONCE = 2
"""Clips and pictures that are made at the same time, so that agents at work keep their CPU."""


async def existing_files(files: Files, file_ids: Sequence[str]) -> list[tuple[int, FileView]]:
    """Return the files that still exist, each with its number among all, from 1."""
    return numbered(await files.existing(file_ids), file_ids)


async def run_video_of(chats: Chats, files: Files, chat_id: str) -> tuple[ChatView, RunVideo]:
    """Return a run with its video; raise ``UnknownRow`` if it has none."""
    chat = await chats.get(chat_id)
    found = run_video(await existing_files(files, chat.recording_file_ids))
    if not found.parts:
        raise UnknownRow("recording", chat_id)
    return chat, found


def numbered(known: Mapping[str, FileView], file_ids: Sequence[str]) -> list[tuple[int, FileView]]:
    """Return the known ones of the files, each with its number among all, from 1."""
    # A person, or retention, may have removed a part; the others can still be shown.
    return [
        (number, known[file_id])
        for number, file_id in enumerate(file_ids, start=1)
        if file_id in known
    ]


class VideoCutter:
    """Creates clips and pictures of run videos; ``editor`` is called for the first one."""

    def __init__(self, files: Files, editor: Callable[[], Editor]) -> None:
        self._files = files
        self._editor = editor
        self._cutting = asyncio.Semaphore(CUT_AT_ONCE)

    async def clip(self, pieces: Sequence[ClipPiece]) -> BinaryIO:
        """Return one video of the pieces as an open file; its bytes are freed when it is closed.

        Raises:
            NotCut: If the pieces cannot be joined, or cannot be read.
            BytesMissing: If the bytes of one do not exist any more.
        """
        async with self._cutting, AsyncExitStack() as stack:
            stretches = await self._stretches(pieces, stack)
            target = await asyncio.to_thread(self._files.incoming)
            return await asyncio.to_thread(self._cut, stretches, target)

    async def still(self, piece: ClipPiece) -> bytes:
        """Return a small JPEG of the begin of a piece; raise the same as :meth:`clip`."""
        async with self._cutting, self._open_path(piece.file) as path:
            return await asyncio.to_thread(self._still, path, piece.start)

    async def sprite(self, pieces: Sequence[ClipPiece], *, exact: bool) -> bytes:
        """Return a JPEG with a small picture of the begin of each piece.

        Raises the same as :meth:`clip`.
        """
        async with self._cutting, AsyncExitStack() as stack:
            files = {piece.file.id: piece.file for piece in pieces}
            paths = {
                name: await stack.enter_async_context(self._open_path(file))
                for name, file in files.items()
            }
            moments = [(paths[piece.file.id], piece.start) for piece in pieces]
            return await asyncio.to_thread(self._sprite, moments, exact=exact)

    async def animation(
        self, pieces: Sequence[ClipPiece], kind: str, width: int, most_bytes: int
    ) -> bytes:
        """Return the pieces as a ``gif`` or ``webp``; raise the same as :meth:`clip`."""
        async with self._cutting, AsyncExitStack() as stack:
            stretches = await self._stretches(pieces, stack)
            make = partial(self._editor().animate, stretches, kind, width, most_bytes)
            return await asyncio.to_thread(_made, make)

    async def sheet(
        self,
        moments: Sequence[tuple[ClipPiece, str, tuple[float, float] | None, bool]],
        columns: int,
    ) -> bytes:
        """Return a contact sheet of moments, PNG; raise the same as :meth:`clip`.

        With each moment come its caption, where a click was, and whether the step failed.
        """
        async with self._cutting, AsyncExitStack() as stack:
            files = {piece.file.id: piece.file for piece, *_ in moments}
            paths = {
                file_id: await stack.enter_async_context(self._open_path(file))
                for file_id, file in files.items()
            }
            cells: list[SheetCell] = [
                (paths[piece.file.id], piece.start, caption, point, failed)
                for piece, caption, point, failed in moments
            ]
            return await asyncio.to_thread(_made, partial(self._editor().sheet, cells, columns))

    async def crops(
        self, moments: Sequence[tuple[ClipPiece, tuple[float, float] | None]]
    ) -> list[bytes]:
        """Return a small JPEG of each moment, around a point; raise the same as :meth:`clip`."""
        async with self._cutting, AsyncExitStack() as stack:
            files = {piece.file.id: piece.file for piece, _ in moments}
            paths = {
                file_id: await stack.enter_async_context(self._open_path(file))
                for file_id, file in files.items()
            }
            wanted = [(paths[piece.file.id], piece.start, point) for piece, point in moments]
            return await asyncio.to_thread(_made, partial(self._editor().crops, wanted))

    async def trail(
        self, moment: ClipPiece, points: Sequence[tuple[float, float, str, bool]]
    ) -> bytes:
        """Return a moment with numbered clicks, PNG; raise the same as :meth:`clip`."""
        async with self._cutting, self._open_path(moment.file) as path:
            make = partial(self._editor().trail, path, moment.start, points)
            return await asyncio.to_thread(_made, make)

    async def whole(self, file: FileView) -> bytes:
        """Return all bytes of a file; raise ``BytesMissing`` if they do not exist any more."""
        async with self._cutting, self._open_path(file) as path:
            return await asyncio.to_thread(path.read_bytes)

    async def _stretches(
        self, pieces: Sequence[ClipPiece], stack: AsyncExitStack
    ) -> list[tuple[Path, float, float]]:
        """Open the file of each piece; return their paths with begin and end."""
        return [
            (await stack.enter_async_context(self._open_path(piece.file)), piece.start, piece.end)
            for piece in pieces
        ]

    def _cut(self, stretches: Sequence[tuple[Path, float, float]], target: Path) -> BinaryIO:
        try:
            self._editor().cut(stretches, target)
            return target.open("rb")
        except RecordingError as error:
            raise NotCut(f"{error}") from error
        finally:
            # The open file keeps its bytes (unlink(2)), and nothing stays after a crash.
            target.unlink(missing_ok=True)

    def _sprite(self, moments: Sequence[tuple[Path, float]], *, exact: bool) -> bytes:
        try:
            return self._editor().sprite(moments, columns=COLUMNS, tile=TILE, exact=exact)
        except RecordingError as error:
            raise NotCut(f"{error}") from error

    def _still(self, path: Path, at: float) -> bytes:
        try:
            return self._editor().still(path, at)
        except RecordingError as error:
            raise NotCut(f"{error}") from error

    @asynccontextmanager
    async def _open_path(self, file: FileView) -> AsyncIterator[Path]:
        """Yield a path to a file's bytes that stays valid if the file is moved or removed."""
        opened = await self._open(file)
        with opened:
            # The editor takes paths. That of the descriptor leads to the inode, whatever its name
            # is now.
            yield Path(f"/proc/self/fd/{opened.fileno()}")

    async def _open(self, file: FileView) -> BinaryIO:
        try:
            return await asyncio.to_thread(self._files.path(file.id).open, "rb")
        except FileNotFoundError:
            return await self._download(file)

    async def _download(self, file: FileView) -> BinaryIO:
        # The container of an MP4 is read by seeking, which a stream from the bucket cannot do.
        unfinished = await asyncio.to_thread(self._files.incoming)
        try:
            with await asyncio.to_thread(unfinished.open, "wb") as target:
                async for chunk in self._files.stream(file.id, 0, file.size):
                    await asyncio.to_thread(target.write, chunk)
                # What is buffered; closing must not write in the event loop.
                await asyncio.to_thread(target.flush)
            return await asyncio.to_thread(unfinished.open, "rb")
        finally:
            await asyncio.to_thread(unfinished.unlink, missing_ok=True)


def _made(make: Callable[[], Made]) -> Made:
    try:
        return make()
    except RecordingError as error:
        raise NotCut(f"{error}") from error
