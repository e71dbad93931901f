import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import av
import numpy as np
import pytest

from deskhand.desktop.screenshots.placeholder import placeholder_frame
from deskhand.recording.errors import RecordingFailed, UnreadableVideo
from deskhand.recording.timing.size_budget import QUALITY_LEVELS
from deskhand.recording.video import mp4_file
from deskhand.recording.video.encoder import Encoder
from deskhand.recording.video.mp4_boxes import Box
from deskhand.recording.video.mp4_file import Mp4File
from tests.recording.fakes import decoded, marked


@pytest.fixture
def encoder() -> Iterator[Encoder]:
    with Encoder((320, 240), QUALITY_LEVELS[0], 8_000_000) as encoder:
        yield encoder


def write(file: Mp4File, encoder: Encoder, numbers: range) -> None:
    for number in numbers:
        encoded = encoder.encode(marked(number), number / 10, key=number % 20 == 0)
        file.write(encoded.data, key=encoded.key, at=number * 100)


def test_a_closed_file_is_an_ordinary_file(tmp_path: Path, encoder: Encoder) -> None:
    file = Mp4File(tmp_path / "1.mp4", encoder.stream)
    write(file, encoder, range(50))
    file.close()
    file.close()
    assert [number for _, number in decoded(file.path)] == list(range(50))
    assert [at for at, _ in decoded(file.path)] == pytest.approx([i / 10 for i in range(50)])
    assert b"moof" not in [box.kind for box in boxes(file.path)]
    with av.open(str(file.path)) as source:
        stream = source.streams.video[0]
        assert stream.frames == 50
        assert stream.codec_context.width == 320
        keys = [packet.pts for packet in source.demux(stream) if packet.is_keyframe]
    assert len(keys) == 3


def test_a_file_plays_while_it_is_written(tmp_path: Path, encoder: Encoder) -> None:
    file = Mp4File(tmp_path / "1.mp4", encoder.stream)
    write(file, encoder, range(30))
    file.sync()
    copy = tmp_path / "copy.mp4"
    copy.write_bytes(file.path.read_bytes())
    assert [number for _, number in decoded(copy)] == list(range(30))
    assert file.size == copy.stat().st_size
    file.close()


def test_every_frame_is_in_the_file_as_soon_as_it_is_written(
    tmp_path: Path, encoder: Encoder
) -> None:
    file = Mp4File(tmp_path / "1.mp4", encoder.stream)
    write(file, encoder, range(1))
    for number in range(1, 25):
        write(file, encoder, range(number, number + 1))
        frames = decoded(file.path)
        assert [shown for _, shown in frames] == list(range(number + 1))
        assert frames[-1][0] == pytest.approx(number / 10)
    written = file.path.read_bytes()
    file.close()
    # FFmpeg's own fragment of the last frame has the place and the size of ours.
    end = next(box for box in boxes(file.path) if box.kind == b"moov").start
    assert end == len(written)


def test_the_index_of_an_open_file_has_no_samples(tmp_path: Path, encoder: Encoder) -> None:
    file = Mp4File(tmp_path / "1.mp4", encoder.stream)
    write(file, encoder, range(3))
    found = boxes(file.path)
    written = file.path.read_bytes()
    file.close()
    kinds = [box.kind for box in found if box.kind != b"free"]
    assert kinds == [b"ftyp", b"moov", *(b"moof", b"mdat") * 3]
    index = next(box for box in found if box.kind == b"moov")
    moov = written[index.start : index.end]
    assert b"mvex" in moov
    for table, count_at in ((b"stsz", 12), (b"stts", 8), (b"stco", 8)):
        # Tables of the first track (section 8.6 and 8.7): version and flags, then the counts.
        at = moov.index(table) + count_at
        assert int.from_bytes(moov[at : at + 4], "big") == 0


def test_a_file_with_a_single_frame_that_is_not_written_yet_is_unreadable(
    tmp_path: Path, encoder: Encoder
) -> None:
    file = Mp4File(tmp_path / "1.mp4", encoder.stream)
    write(file, encoder, range(1))
    path = tmp_path / "killed.mp4"
    path.write_bytes(file.path.read_bytes())
    file.close()
    with pytest.raises(UnreadableVideo):
        mp4_file.rescue(path)
    assert list(tmp_path.glob("*.rescued")) == []


def test_a_cut_file_is_rescued_at_every_length(tmp_path: Path, encoder: Encoder) -> None:
    file = Mp4File(tmp_path / "1.mp4", encoder.stream)
    write(file, encoder, range(25))
    whole = file.path.read_bytes()
    file.close()
    seen = 0
    for length in range(len(whole) // 3, len(whole), 97):
        path = tmp_path / "cut.mp4"
        path.write_bytes(whole[:length])
        left = mp4_file.rescue(path)
        numbers = [number for _, number in decoded(path)]
        assert numbers == list(range(len(numbers)))
        assert len(numbers) == left.frames >= seen
        seen = left.frames
    assert seen >= 23


def test_a_rescued_file_is_an_ordinary_file(tmp_path: Path, encoder: Encoder) -> None:
    file = Mp4File(tmp_path / "1.mp4", encoder.stream)
    write(file, encoder, range(25))
    path = tmp_path / "killed.mp4"
    path.write_bytes(file.path.read_bytes())
    file.close()
    left = mp4_file.rescue(path)
    assert [box.kind for box in boxes(path)] == [b"ftyp", b"free", b"mdat", b"moov"]
    assert left.video_s == pytest.approx(2.4)
    assert left.best_key.shape == (240, 320, 4)
    assert np.abs(left.best_key.astype(int) - marked(20).astype(int))[..., :3].mean() < 4
    assert list(tmp_path.glob("*.rescued")) == []


def test_the_picture_of_a_rescued_file_is_no_placeholder(tmp_path: Path, encoder: Encoder) -> None:
    file = Mp4File(tmp_path / "1.mp4", encoder.stream)
    private = placeholder_frame("A person has this desktop in private.", 320, 240)
    for at, pixels in enumerate((marked(3), marked(5), private, private)):
        encoded = encoder.encode(pixels, float(at), key=True)
        file.write(encoded.data, key=True, at=at * 1000)
    path = tmp_path / "killed.mp4"
    path.write_bytes(file.path.read_bytes())
    file.close()
    left = mp4_file.rescue(path)
    assert np.abs(left.best_key.astype(int) - marked(5).astype(int))[..., :3].mean() < 4


def test_a_file_of_placeholders_alone_has_the_last_one(tmp_path: Path, encoder: Encoder) -> None:
    file = Mp4File(tmp_path / "1.mp4", encoder.stream)
    private = placeholder_frame("A person has this desktop in private.", 320, 240)
    for at in range(3):
        encoded = encoder.encode(private, float(at), key=True)
        file.write(encoded.data, key=True, at=at * 1000)
    path = tmp_path / "killed.mp4"
    path.write_bytes(file.path.read_bytes())
    file.close()
    assert np.abs(mp4_file.rescue(path).best_key.astype(int) - private)[..., :3].mean() < 4


def test_a_file_for_which_there_is_no_room_is_not_called_unreadable(
    tmp_path: Path, encoder: Encoder
) -> None:
    file = Mp4File(tmp_path / "1.mp4", encoder.stream)
    write(file, encoder, range(5))
    path = tmp_path / "killed.mp4"
    path.write_bytes(file.path.read_bytes())
    file.close()
    (tmp_path / "killed.rescued").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        mp4_file.rescue(path)
    assert mp4_file.rescue(path).frames == 5


@pytest.mark.parametrize("content", [b"", b"no file at all", b"\0\0\0\x18ftypisom" + bytes(200)])
def test_a_file_without_a_frame_is_unreadable(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "1.mp4"
    path.write_bytes(content)
    with pytest.raises(UnreadableVideo):
        mp4_file.rescue(path)
    assert path.read_bytes() == content


def test_a_description_travels_in_the_file(tmp_path: Path, encoder: Encoder) -> None:
    file = Mp4File(tmp_path / "1.mp4", encoder.stream)
    write(file, encoder, range(10))
    file.close()
    assert mp4_file.description(file.path) is None
    mp4_file.describe(file.path, '{"wörds": 1}')
    assert mp4_file.description(file.path) == '{"wörds": 1}'
    assert len(decoded(file.path)) == 10


def test_invalid_boxes_end_the_search(tmp_path: Path) -> None:
    path = tmp_path / "x.mp4"
    path.write_bytes(b"\0\0\0\x02free" + bytes(50))
    assert mp4_file.description(path) is None
    path.write_bytes(b"\0\0\0\x01mdat" + (20).to_bytes(8, "big") + bytes(4))
    assert mp4_file.description(path) is None


def test_nothing_is_written_after_closing(tmp_path: Path, encoder: Encoder) -> None:
    file = Mp4File(tmp_path / "1.mp4", encoder.stream)
    write(file, encoder, range(2))
    file.close()
    with pytest.raises(RecordingFailed, match="closed"):
        file.write(b"x", key=False, at=9000)


def test_a_folder_that_is_missing_is_an_error(tmp_path: Path, encoder: Encoder) -> None:
    with pytest.raises(RecordingFailed, match="cannot be written"):
        Mp4File(tmp_path / "nowhere" / "1.mp4", encoder.stream)


def test_frames_out_of_order_are_refused(tmp_path: Path, encoder: Encoder) -> None:
    file = Mp4File(tmp_path / "1.mp4", encoder.stream)
    write(file, encoder, range(3))
    with pytest.raises(RecordingFailed, match="takes no frame"):
        file.write(b"\0\0\0\1x", key=False, at=0)
    file.close()


FILLING = """
import resource, signal, sys
from pathlib import Path
import numpy as np
from deskhand.recording.video.mp4_boxes import Box
from deskhand.recording.timing.size_budget import QUALITY_LEVELS
from deskhand.recording.video.mp4_file import Mp4File
from deskhand.recording.video.encoder import Encoder
from deskhand.recording.errors import DiskFull, RecordingFailed
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
random = np.random.default_rng(1)
with Encoder((320, 240), QUALITY_LEVELS[0], 8_000_000) as encoder:
    file = Mp4File(Path(sys.argv[1]), encoder.stream)
    try:
        for i in range(1000):
            noise = random.integers(0, 255, (240, 320, 4), dtype=np.uint8)
            encoded = encoder.encode(noise, i / 10, key=i == 0)
            file.write(encoded.data, key=encoded.key, at=i * 100)
    except DiskFull:
        print("full")
    try:
        file.close()
    except RecordingFailed:
        print("no index")
"""


def test_a_file_without_room_for_its_end_plays_as_far_as_it_goes(tmp_path: Path) -> None:
    path = tmp_path / "1.mp4"
    done = subprocess.run(
        [sys.executable, "-c", FILLING, str(path)], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.splitlines() == ["full", "no index"], done.stderr
    with av.open(str(path)) as source:
        assert sum(1 for _ in source.decode(video=0)) > 1
    assert mp4_file.rescue(path).frames > 1


def boxes(path: Path) -> list[Box]:
    with path.open("rb") as file:
        return list(mp4_file.outermost(file.fileno()))
