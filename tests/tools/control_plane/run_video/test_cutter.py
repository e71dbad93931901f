import asyncio
import io
import threading
from pathlib import Path, PosixPath
from typing import Any

from deskhand.tools.control_plane.run_video.cutter import SPRITES_KEPT, VideoCutter
from deskhand.tools.control_plane.run_video.playlist import ClipPiece
from tests.tools.control_plane.fakes import FakeEditor, FakeFiles

WRITERS: set[int] = set()


class NotedFile(io.FileIO):
    """Notes which threads write."""

    def write(self, data: Any) -> int:
        WRITERS.add(threading.get_ident())
        return super().write(data)


class NotedPath(PosixPath):
    """A path whose file notes who writes to it."""

    def open(self, mode: str = "r", *_: Any, **__: Any) -> Any:
        return NotedFile(self, mode)


class NotedFiles(FakeFiles):
    def incoming(self) -> Path:
        return NotedPath(super().incoming())


def test_a_download_is_written_outside_of_the_event_loop(tmp_path: Path) -> None:
    async def scenario() -> bytes:
        files = NotedFiles(tmp_path)
        video = files.add(None, size=5)
        files.elsewhere[video.id] = b"video"
        cutter = VideoCutter(files, FakeEditor)
        WRITERS.clear()
        return await cutter.still(ClipPiece(video, 1.0, 2.0))

    assert asyncio.run(scenario()) == b"video at 1"
    assert WRITERS
    assert threading.get_ident() not in WRITERS
    assert list(tmp_path.glob("incoming-*")) == []


def test_film_strips_stay_in_memory(tmp_path: Path) -> None:
    async def scenario() -> tuple[bytes, bytes]:
        files = FakeFiles(tmp_path)
        pieces = [ClipPiece(files.add(b"video", sha256="a"), float(at), 9.0) for at in range(2)]
        editor = FakeEditor()
        cutter = VideoCutter(files, lambda: editor)
        made = await cutter.sprite(pieces, exact=False)
        files.path(pieces[0].file.id).write_bytes(b"another")
        return made, await cutter.sprite(pieces, exact=False)

    made, again = asyncio.run(scenario())
    assert made == b"keys 10 160x90: video 0, video 1"
    assert again == made


def test_the_oldest_film_strip_is_forgotten(tmp_path: Path) -> None:
    async def scenario() -> bytes:
        files = FakeFiles(tmp_path)
        video = files.add(b"video", sha256="a")
        cutter = VideoCutter(files, FakeEditor)
        for at in range(SPRITES_KEPT + 1):
            await cutter.sprite([ClipPiece(video, float(at), 99.0)], exact=True)
        files.path(video.id).write_bytes(b"another")
        return await cutter.sprite([ClipPiece(video, 0.0, 99.0)], exact=True)

    assert asyncio.run(scenario()) == b"exact 10 160x90: another 0"
