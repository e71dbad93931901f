"""Clicks on one frame of a video."""

import io
from pathlib import Path

import pytest
from PIL import Image

from deskhand.recording.errors import UnreadableVideo
from deskhand.recording.video.trail import trail
from tests.recording.video.test_clips import write_video


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_video(tmp_path_factory.mktemp("video") / "1.mp4", range(10))


def test_clicks_are_drawn_where_they_were_and_joined(video: Path) -> None:
    points = [(40.0, 120.0, "1", False), (200.0, 120.0, "2", True)]
    with Image.open(io.BytesIO(trail(video, 0.5, points))) as drawn:
        shown = drawn.convert("RGB")
    with Image.open(io.BytesIO(trail(video, 0.5, []))) as bare:
        plain = bare.convert("RGB")
    assert shown.size == plain.size == (320, 240)
    for x, y in ((32, 120), (192, 120), (120, 120)):
        assert shown.getpixel((x, y)) != plain.getpixel((x, y))
    assert shown.getpixel((120, 60)) == plain.getpixel((120, 60))


def test_what_is_no_video_has_no_trail(tmp_path: Path) -> None:
    path = tmp_path / "none.mp4"
    path.write_bytes(b"no video")
    with pytest.raises(UnreadableVideo):
        trail(path, 0.0, [])
