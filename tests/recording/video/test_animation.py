"""Animations of stretches of videos."""

import io
from pathlib import Path

import pytest
from PIL import Image

from deskhand.recording.errors import UnreadableVideo
from deskhand.recording.video.animation import AnimationFormat, animation
from deskhand.recording.video.clips import Stretch
from tests.recording.video.test_clips import write_video


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten frames a second for two seconds."""
    return write_video(tmp_path_factory.mktemp("video") / "1.mp4", range(20))


def durations(data: bytes) -> list[int]:
    found = []
    with Image.open(io.BytesIO(data)) as shown:
        for number in range(getattr(shown, "n_frames", 1)):
            shown.seek(number)
            shown.load()
            found.append(round(shown.info["duration"]))
    return found


@pytest.mark.parametrize("kind", ["gif", "webp"])
def test_an_animation_has_the_frames_and_the_length_of_its_stretch(
    video: Path, kind: AnimationFormat
) -> None:
    data = animation([Stretch(video, 0.5, 1.5)], kind, 160, 8_000_000)
    assert sum(durations(data)) == pytest.approx(1000, abs=20)
    assert len(durations(data)) == 10
    with Image.open(io.BytesIO(data)) as shown:
        assert shown.size == (160, 120)


def test_a_video_that_is_narrower_stays_as_it_is(video: Path) -> None:
    data = animation([Stretch(video, 0.0, 0.2)], "gif", 1280, 8_000_000)
    with Image.open(io.BytesIO(data)) as shown:
        assert shown.size == (320, 240)


def test_fewer_frames_make_it_fit_and_last_as_long(video: Path) -> None:
    whole = animation([Stretch(video, 0.0, 2.0)], "gif", 320, 8_000_000)
    smaller = animation([Stretch(video, 0.0, 2.0)], "gif", 320, len(whole) // 3)
    assert len(smaller) <= len(whole) // 3
    assert sum(durations(smaller)) == sum(durations(whole)) == pytest.approx(2000, abs=20)
    assert 1 <= len(durations(smaller)) < len(durations(whole))


def test_what_is_no_video_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / "none.mp4").write_bytes(b"none")
    with pytest.raises(UnreadableVideo):
        animation([Stretch(tmp_path / "none.mp4", 0.0, 1.0)], "gif", 320, 1000)
