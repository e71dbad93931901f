"""Crops of moments of videos."""

import io
from pathlib import Path

import pytest
from PIL import Image

from deskhand.recording.errors import UnreadableVideo
from deskhand.recording.video.crops import Crop, crops
from tests.recording.video.test_clips import write_video


def test_crops_are_small_pictures_of_their_moments(tmp_path: Path) -> None:
    video = write_video(tmp_path / "1.mp4", range(10), width=1280)
    wanted = [Crop(video, 0.0), Crop(video, 0.5, (0.0, 0.0)), Crop(video, 0.5, (1279.0, 200.0))]
    sizes = [Image.open(io.BytesIO(one)).size for one in crops(wanted)]
    # The video is lower than the height of a crop.
    assert sizes == [(320, 60), (320, 120), (320, 120)]


def test_what_is_no_video_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / "none.mp4").write_bytes(b"none")
    with pytest.raises(UnreadableVideo):
        crops([Crop(tmp_path / "none.mp4", 0.0)])
