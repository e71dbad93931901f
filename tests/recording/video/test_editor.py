from pathlib import Path

import pytest

from deskhand.recording.errors import UnreadableVideo
from deskhand.recording.video.editor import Editor
from tests.recording.fakes import decoded
from tests.recording.video.test_clips import write_video


def test_a_kept_video_gives_clips_and_pictures(tmp_path: Path) -> None:
    video = write_video(tmp_path / "kept", range(30))
    clip = tmp_path / "clip"
    Editor().cut([(video, 0.5, 1.0)], clip)
    assert [number for _, number in decoded(clip)] == list(range(5, 10))
    assert Editor().still(video, 1.0).startswith(b"\xff\xd8")
    with pytest.raises(UnreadableVideo):
        Editor().still(tmp_path / "no", 1.0)
