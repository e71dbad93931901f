"""Clips and single frames of videos."""

from pathlib import Path

import numpy as np
import pytest

from deskhand.recording.errors import RecordingFailed, UnreadableVideo
from deskhand.recording.timing.size_budget import QUALITY_LEVELS
from deskhand.recording.video import clips
from deskhand.recording.video.clips import Stretch
from deskhand.recording.video.encoder import Encoder
from deskhand.recording.video.mp4_file import Mp4File
from tests.recording.fakes import decoded, key_times, marked


def write_video(path: Path, numbers: range, width: int = 320) -> Path:
    """One number every tenth of a second, a keyframe every two seconds."""
    with Encoder((width, 240), QUALITY_LEVELS[0], 8_000_000) as encoder:
        made = Mp4File(path, encoder.stream)
        for at, number in enumerate(numbers):
            encoded = encoder.encode(marked(number, width), at / 10, key=at % 20 == 0)
            made.write(encoded.data, key=encoded.key, at=at * 100)
        made.close()
    return path


@pytest.fixture
def video(tmp_path: Path) -> Path:
    return write_video(tmp_path / "1.mp4", range(60))


@pytest.mark.parametrize(
    ("start", "end", "numbers"),
    [
        (0.0, 2.0, range(20)),
        (2.0, 4.0, range(20, 40)),
        (3.05, 3.25, range(30, 33)),
        (3.05, 3.06, range(30, 31)),
        (5.5, 99.0, range(55, 60)),
    ],
)
def test_a_clip_shows_exactly_the_requested_frames(
    video: Path, start: float, end: float, numbers: range
) -> None:
    clip = video.with_name("clip.mp4")
    clips.cut([Stretch(video, start, end)], clip)
    shown = decoded(clip)
    assert [number for _, number in shown] == list(numbers)
    assert shown[0][0] == 0.0
    assert video.stat().st_size > clip.stat().st_size


def test_nothing_is_encoded_again(video: Path) -> None:
    clip = video.with_name("clip.mp4")
    clips.cut([Stretch(video, 0.0, 6.0)], clip)
    assert key_times(clip) == key_times(video)


def test_parts_follow_each_other_in_a_clip(video: Path) -> None:
    second = write_video(video.with_name("2.mp4"), range(100, 120))
    clip = video.with_name("clip.mp4")
    clips.cut([Stretch(video, 5.5, 6.0), Stretch(second, 0.0, 0.5)], clip)
    expected = [*range(55, 60), *range(100, 105)]
    assert [number for _, number in decoded(clip)] == expected
    assert [at for at, _ in decoded(clip)] == pytest.approx([i / 10 for i in range(10)])


def test_parts_of_different_sizes_are_not_joined(video: Path) -> None:
    second = write_video(video.with_name("2.mp4"), range(5), width=352)
    with pytest.raises(RecordingFailed, match="different sizes"):
        clips.cut([Stretch(video, 0, 1), Stretch(second, 0, 1)], video.with_name("c.mp4"))


def test_a_later_part_begins_at_a_keyframe(video: Path) -> None:
    with pytest.raises(RecordingFailed, match="keyframe"):
        clips.cut([Stretch(video, 0, 1), Stretch(video, 2.5, 3)], video.with_name("c.mp4"))


def test_a_file_that_is_no_video_is_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "1.mp4"
    path.write_bytes(b"nonsense")
    with pytest.raises(UnreadableVideo):
        clips.cut([Stretch(path, 0, 1)], tmp_path / "c.mp4")
    with pytest.raises(UnreadableVideo):
        clips.picture(path, 0.0)


@pytest.mark.parametrize(("at", "number"), [(0.0, 0), (3.05, 30), (3.1, 31), (99.0, 59)])
def test_a_frame_is_decoded_at_each_moment(video: Path, at: float, number: int) -> None:
    shown = clips.picture(video, at).astype(int)
    assert np.abs(shown - marked(number).astype(int))[..., :3].mean() < 4


def test_a_kept_video_gives_clips_and_pictures(tmp_path: Path) -> None:
    video = write_video(tmp_path / "kept", range(30))
    clip = tmp_path / "clip"
    clips.cut([(video, 0.5, 1.0)], clip)
    assert [number for _, number in decoded(clip)] == list(range(5, 10))
    assert clips.still(video, 1.0).startswith(b"\xff\xd8")
    with pytest.raises(UnreadableVideo):
        clips.still(tmp_path / "no", 1.0)
