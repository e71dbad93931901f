import asyncio
import io
import threading
from pathlib import Path, PosixPath
from typing import Any

from deskhand.tools.control_plane.run_video.cutter import VideoCutter
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
