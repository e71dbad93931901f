import asyncio
from pathlib import Path
from typing import Any

import pytest

from deskhand.tools.control_plane.run_video.cutter import VideoCutter
from deskhand.tools.control_plane.run_video.filmstrips import Filmstrips
from deskhand.tools.conversation.views import FileView
from deskhand.tools.store.errors import UnknownRow
from tests.tools.control_plane.fakes import FakeChats, FakeEditor, FakeFiles

RECORDED: dict[str, Any] = {
    "id": "c",
    "started_at": 1.0,
    "video_s": 8.0,
    "parts": [{"video_start": 0.0}],
}


class Studio:
    """A run with a video, and its film strips."""

    def __init__(self, folder: Path) -> None:
        self.chats, self.files, self.editor = FakeChats(), FakeFiles(folder), FakeEditor()
        cutter = VideoCutter(self.files, lambda: self.editor)
        self.strips = Filmstrips(self.chats, self.files, cutter)

    def record(self, data: bytes | None = b"video") -> str:
        video = self.files.add(data, kind="recording", metadata=RECORDED)
        return self.chats.add(recording_file_ids=(video.id,), recording_status="stored").id

    def publish(self, chat_id: str, status: str, thumbnail: str | None = "t") -> None:
        shown = {"recording_status": status, "thumbnail_file_id": thumbnail}
        self.chats.hub.publish("status", chat_id, shown)

    async def run(self, *stored: str) -> None:
        """Run the task until it has read the events of these chats."""
        task = asyncio.create_task(self.strips.run())
        await asyncio.sleep(0)
        for chat_id in stored:
            self.publish(chat_id, "recording", None)
            self.publish(chat_id, "stored")
        self.chats.listening[0].close()
        await task


def test_a_strip_is_made_once_and_stays_beside_the_recording(tmp_path: Path) -> None:
    async def scenario() -> None:
        studio = Studio(tmp_path)
        chat_id = studio.record()
        first, second = await asyncio.gather(*(studio.strips.get(chat_id) for _ in range(2)))
        assert isinstance(first, FileView)
        assert first == second
        assert studio.files.path(first.id).read_bytes().startswith(b"exact 10 160x90: video 0.5")

    asyncio.run(scenario())


def test_a_full_disk_leaves_the_bytes_to_the_page(tmp_path: Path) -> None:
    async def scenario() -> None:
        studio = Studio(tmp_path)
        studio.files.full = True
        made = await studio.strips.get(studio.record())
        assert isinstance(made, bytes)

    asyncio.run(scenario())


def test_a_run_without_a_video_has_no_strip(tmp_path: Path) -> None:
    studio = Studio(tmp_path)
    with pytest.raises(UnknownRow):
        asyncio.run(studio.strips.get(studio.chats.add().id))


def test_the_strip_of_a_stored_recording_is_there_before_a_page_asks(tmp_path: Path) -> None:
    async def scenario() -> None:
        studio = Studio(tmp_path)
        chat_id = studio.record()
        await studio.run(chat_id)
        assert len(await studio.files.pictures(chat_id)) == 1

    asyncio.run(scenario())


def test_the_task_makes_nothing_while_a_recording_grows(tmp_path: Path) -> None:
    async def scenario() -> None:
        studio = Studio(tmp_path)
        chat_id = studio.record()
        task = asyncio.create_task(studio.strips.run())
        await asyncio.sleep(0)
        studio.publish(chat_id, "recording", None)
        studio.chats.listening[0].close()
        await task
        assert await studio.files.pictures(chat_id) == []

    asyncio.run(scenario())


def test_a_recording_that_cannot_be_read_does_not_end_the_task(tmp_path: Path) -> None:
    async def scenario() -> None:
        studio = Studio(tmp_path)
        broken, readable = studio.record(data=None), studio.record()
        await studio.run(broken, "deleted", readable)
        assert await studio.files.pictures(broken) == []
        assert len(await studio.files.pictures(readable)) == 1

    asyncio.run(scenario())
