"""Sprites of small frames."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from deskhand.recording.errors import UnreadableVideo
from deskhand.recording.timing.size_budget import QUALITY_LEVELS
from deskhand.recording.video.encoder import Encoder
from deskhand.recording.video.mp4_file import Mp4File
from deskhand.recording.video.sprites import Moment, sprite

TILE = (16, 12)


@pytest.fixture
def video(tmp_path: Path) -> Path:
    """Return a video that is brighter with each second, with a keyframe every two seconds."""
    path = tmp_path / "1.mp4"
    with Encoder((320, 240), QUALITY_LEVELS[0], 8_000_000) as encoder:
        made = Mp4File(path, encoder.stream)
        for second in range(6):
            frame = np.full((240, 320, 4), 40 * second, np.uint8)
            encoded = encoder.encode(frame, float(second), key=second % 2 == 0)
            made.write(encoded.data, key=encoded.key, at=second * 1000)
        made.close()
    return path


def brightness(data: bytes, count: int, columns: int = 3) -> list[int]:
    """Return the second that each tile shows."""
    picture = np.asarray(Image.open(io.BytesIO(data)).convert("L"))
    places = [divmod(index, columns) for index in range(count)]
    return [round(float(picture[12 * r + 6, 16 * c + 8]) / 40) for r, c in places]


@pytest.mark.parametrize(("exact", "seconds"), [(True, [0, 1, 2, 3, 5]), (False, [0, 0, 2, 2, 4])])
def test_tiles_show_their_moments_or_the_keyframes_before(
    video: Path, exact: bool, seconds: list[int]
) -> None:
    moments = [Moment(video, at) for at in (0.0, 1.0, 2.5, 3.9, 99.0)]
    made = sprite(moments, columns=3, tile=TILE, exact=exact)
    assert Image.open(io.BytesIO(made)).size == (48, 24)
    assert brightness(made, 5) == seconds


def test_parts_follow_each_other(video: Path) -> None:
    second = video.with_name("2.mp4")
    second.write_bytes(video.read_bytes())
    made = sprite([Moment(video, 5.0), Moment(second, 1.0)], columns=3, tile=TILE, exact=True)
    assert brightness(made, 2) == [5, 1]


def test_a_file_that_is_no_video_is_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "1.mp4"
    path.write_bytes(b"nonsense")
    with pytest.raises(UnreadableVideo):
        sprite([Moment(path, 0.0)], columns=1, tile=TILE, exact=True)
