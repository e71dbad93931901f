"""Fast start of closed files in the background."""

import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import av
import pytest

from deskhand.recording.errors import UnreadableVideo
from deskhand.recording.library import metadata
from deskhand.recording.library.faststart import FastStart, embed_description, move_index
from deskhand.recording.library.metadata import Part
from deskhand.recording.step import Step
from deskhand.recording.timing.size_budget import QUALITY_LEVELS
from deskhand.recording.video import mp4_file
from deskhand.recording.video.encoder import Encoder
from deskhand.recording.video.mp4_file import Mp4File
from tests.recording.fakes import WAIT, decoded, marked

A = "a1111111-2222-3333-4444-555555555555"
PART = Part(
    recording_id=A,
    index=1,
    session_number=1,
    label="",
    started_at=1e6,
    points=((0.0, 0.0), (5.0, 5.0)),
)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return a closed file of 50 numbered frames."""
    folder = tmp_path_factory.mktemp("original")
    with Encoder((320, 240), QUALITY_LEVELS[0], 8_000_000) as encoder:
        made = Mp4File(folder / "1.mp4", encoder.stream)
        for number in range(50):
            encoded = encoder.encode(marked(number), number / 10, key=number % 20 == 0)
            made.write(encoded.data, key=encoded.key, at=number * 100)
        made.close()
    return made.path.read_bytes()


@pytest.fixture
def video(tmp_path: Path, original: bytes) -> Path:
    path = tmp_path / "1.mp4"
    path.write_bytes(original)
    return path


def kinds(path: Path) -> list[bytes]:
    with path.open("rb") as file:
        return [box.kind for box in mp4_file.outermost(file.fileno())]


def described(video: Path, steps: int) -> Part:
    made = tuple(
        Step(action="left_click", text=f"no. {i}", started=i / 100, ended=i / 100)
        for i in range(steps)
    )
    part = replace(PART, steps=made)
    embed_description(video, part)
    return part


@pytest.mark.parametrize("steps", [0, 1, 7, 400])
def test_the_moov_box_moves_to_the_front_and_the_file_keeps_its_length(
    video: Path, steps: int
) -> None:
    part = described(video, steps)
    size = video.stat().st_size
    assert move_index(video, spare=0)
    assert kinds(video)[:3] == [b"ftyp", b"moov", b"uuid"]
    assert kinds(video)[-1] == b"mdat"
    assert video.stat().st_size == size
    assert [number for _, number in decoded(video)] == list(range(50))
    assert metadata.read(mp4_file.description(video) or "") == part
    assert [path.name for path in video.parent.iterdir()] == ["1.mp4"]


def test_steps_are_chapters_of_the_new_file(video: Path) -> None:
    described(video, 400)
    move_index(video, spare=0)
    with av.open(str(video)) as source:
        chapters = source.chapters()
    titles = [chapter["metadata"]["title"] for chapter in chapters]
    assert titles == [f"left_click no. {i}" for i in range(0, 400, 2)]
    first, second, *_ = [chapter["start"] * (chapter["time_base"] or 0) for chapter in chapters]
    assert (first, second) == pytest.approx((0.0, 0.02))


def test_a_file_without_a_description_is_processed_too(video: Path) -> None:
    assert move_index(video, spare=0)
    assert kinds(video)[:2] == [b"ftyp", b"moov"]
    assert len(decoded(video)) == 50


def test_a_file_is_processed_once(video: Path) -> None:
    assert move_index(video, spare=0)
    inode = video.stat().st_ino
    assert not move_index(video, spare=0)
    assert video.stat().st_ino == inode


def test_a_file_without_room_for_chapters_gets_none(video: Path) -> None:
    part = replace(PART, steps=tuple(Step(title="x" * 99, started=i) for i in range(5)))
    mp4_file.describe(video, metadata.document(part))
    assert move_index(video, spare=0)
    with av.open(str(video)) as source:
        assert source.chapters() == []
    assert len(decoded(video)) == 50


def test_a_reader_of_the_old_file_reads_it_to_its_end(video: Path) -> None:
    before = video.read_bytes()
    with video.open("rb") as reader:
        start = reader.read(1000)
        assert move_index(video, spare=0)
        assert start + reader.read() == before
    assert video.read_bytes() != before


def test_a_full_disk_leaves_the_moov_box_where_it_is(video: Path, original: bytes) -> None:
    assert not move_index(video, spare=1 << 60)
    assert video.read_bytes() == original


def test_the_copy_is_abandoned_on_request(video: Path, original: bytes) -> None:
    assert not move_index(video, lambda: False, spare=0)
    assert video.read_bytes() == original
    assert list(video.parent.iterdir()) == [video]


def test_a_file_that_is_deleted_meanwhile_stays_deleted(video: Path) -> None:
    def keep_going() -> bool:
        video.unlink(missing_ok=True)
        return True

    assert not move_index(video, keep_going, spare=0)
    assert list(video.parent.iterdir()) == []


@pytest.mark.parametrize("cut", [0, 4, 100, -1, -20])
def test_a_file_that_is_not_closed_is_not_changed(video: Path, original: bytes, cut: int) -> None:
    video.write_bytes(original[:cut])
    with pytest.raises(UnreadableVideo):
        move_index(video, spare=0)
    assert video.read_bytes() == original[:cut]


def test_two_services_never_write_the_same_draft(video: Path, original: bytes) -> None:
    video.with_suffix(".moving").write_bytes(b"another's")
    with pytest.raises(FileExistsError):
        move_index(video, spare=0)
    assert video.read_bytes() == original


class Watched(FastStart):
    """Reports when it has done all that was given to it before."""

    def wait(self, folder: Path) -> None:
        # A pipe stands for a last file: opening it to write waits for the thread to read it.
        done = folder / "end.mp4"
        os.mkfifo(done)
        self.put(done)
        opener = threading.Thread(target=done.write_bytes, args=(b"",), daemon=True)
        opener.start()
        opener.join(WAIT)
        assert not opener.is_alive()


@pytest.fixture
def fast_start() -> Iterator[Watched]:
    with Watched() as fast_start:
        yield fast_start
    fast_start.close()


def test_one_bad_file_does_not_stop_the_others(fast_start: Watched, video: Path) -> None:
    bad = video.with_name("2.mp4")
    bad.write_bytes(b"nonsense")
    for path in (bad, video.with_name("3.mp4"), video):
        fast_start.put(path)
    fast_start.wait(video.parent)
    assert bad.read_bytes() == b"nonsense"
    assert len(decoded(video)) == 50


def test_after_closing_no_file_is_processed(video: Path, original: bytes) -> None:
    fast_start = FastStart()
    fast_start.put(video)
    fast_start.close()
    fast_start.open()
    fast_start.close()
    assert video.read_bytes() == original
