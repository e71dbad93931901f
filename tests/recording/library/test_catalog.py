import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from deskhand.recording.errors import InvalidRecordingId, NoSuchMoment, UnknownRecording
from deskhand.recording.library import metadata as parts
from deskhand.recording.library.catalog import Catalog, checked
from deskhand.recording.library.metadata import Part
from deskhand.recording.pipeline.part_writer import PartWriter
from deskhand.recording.step import Step
from deskhand.recording.timing.size_budget import QUALITY_LEVELS
from deskhand.recording.timing.timeline import TimeMap
from deskhand.recording.video import mp4_file as container
from deskhand.recording.video.encoder import Encoder
from tests.recording.fakes import decoded, marked

A = "a1111111-2222-3333-4444-555555555555"
B = "b1111111-2222-3333-4444-555555555555"


@pytest.fixture
def encoder() -> Iterator[Encoder]:
    with Encoder((320, 240), QUALITY_LEVELS[0], 8_000_000) as encoder:
        yield encoder


def reel(
    folder: Path, encoder: Encoder, name: str = A, index: int = 1, take: int = 1
) -> PartWriter:
    part = Part(recording_id=name, index=index, take=take, label="x", started_at=1000.0 + index)
    return PartWriter(part, Catalog(folder), encoder.stream, origin=50.0, cap=100_000_000, rung=0)


def fill(reel: PartWriter, encoder: Encoder, frames: int = 20) -> None:
    for number in range(frames):
        coded = encoder.encode(marked(number), 50.0 + number / 10, key=number == 0)
        reel.write(coded, 7_000 + number * 100)
    reel.note(Step(tool="execute", started=50.5, ended=50.7))
    reel.mark(TimeMap(((0.0, 0.0), (1.5, 1.5))), 51.5)


def left_by_a_dead_service(folder: Path, encoder: Encoder, name: str = A) -> None:
    """Files as a kill leaves them: copies of those of a reel that was never closed."""
    alive = folder / "alive"
    running = reel(alive, encoder, name)
    fill(running, encoder)
    target = folder / name
    target.mkdir()
    for path in (alive / name).iterdir():
        (target / path.name).write_bytes(path.read_bytes())
    running.close("closed")


@pytest.mark.parametrize(
    "name", ["", "..", "../../etc", A + "/", A[:-1], "urn:uuid:" + A, "{" + A + "}", A + "\n"]
)
def test_only_a_uuid_becomes_a_path(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidRecordingId):
        checked(name)
    with pytest.raises(InvalidRecordingId):
        Catalog(tmp_path).paths(name, 1)


def test_ids_have_one_spelling() -> None:
    assert checked(A.upper()) == A


def test_a_closed_recording_is_found_again(tmp_path: Path, encoder: Encoder) -> None:
    running = reel(tmp_path, encoder)
    fill(running, encoder)
    running.close("completed")
    catalogue = Catalog(tmp_path)
    facts = catalogue.get(A)
    assert (facts["status"], facts["end_reason"], facts["complete"]) == (
        "stored",
        "completed",
        True,
    )
    assert facts["bytes"] == catalogue.video(A).stat().st_size
    assert facts["steps"][0]["video_start"] == 0.5
    assert sorted(path.name for path in (tmp_path / A).iterdir()) == ["1.json", "1.mp4"]


def test_a_running_recording_is_found_too(tmp_path: Path, encoder: Encoder) -> None:
    running = reel(tmp_path, encoder)
    fill(running, encoder)
    catalogue = Catalog(tmp_path)
    facts = catalogue.get(A)
    assert (facts["status"], facts["end_reason"]) == ("recording", None)
    assert facts["bytes"] > 0
    assert (facts["duration_s"], facts["video_s"]) == (1.5, 1.5)
    assert "execute" in catalogue.steps_vtt(A)
    running.close("completed")


def test_frames_before_a_reel_begins_are_not_its_own(tmp_path: Path, encoder: Encoder) -> None:
    running = reel(tmp_path, encoder)
    early = encoder.encode(marked(9), 49.0, key=True)
    running.write(early, 6_000)
    fill(running, encoder, 3)
    running.close("completed")
    assert decoded(Catalog(tmp_path).video(A)) == [(0.0, 0), (0.1, 1), (0.2, 2)]


def test_newest_recordings_come_first_without_their_details(
    tmp_path: Path, encoder: Encoder
) -> None:
    for index, name in ((1, A), (2, B)):
        running = reel(tmp_path, encoder, name, index)
        fill(running, encoder, 2)
        running.close("completed")
    (tmp_path / "something else").mkdir()
    listed = Catalog(tmp_path).list()
    assert [one["id"] for one in listed] == [B, A]
    assert "steps" not in listed[0]


def test_a_folder_that_does_not_exist_holds_nothing(tmp_path: Path) -> None:
    catalogue = Catalog(tmp_path / "none")
    assert list(catalogue.list()) == []
    assert catalogue.recover() == ()
    assert catalogue.next_index(A) == 1
    with pytest.raises(UnknownRecording):
        catalogue.get(A)


def test_an_older_part_is_found_by_its_number(tmp_path: Path, encoder: Encoder) -> None:
    for index in (1, 2):
        running = reel(tmp_path, encoder, index=index, take=index)
        fill(running, encoder, 2)
        running.close("completed")
    catalogue = Catalog(tmp_path)
    assert catalogue.video(A).name == "2.mp4"
    assert catalogue.video(A, 1).name == "1.mp4"
    assert catalogue.next_index(A) == 3
    with pytest.raises(UnknownRecording):
        catalogue.video(A, 3)
    with pytest.raises(UnknownRecording):
        catalogue.thumbnail(A)


def test_deleting_removes_everything(tmp_path: Path, encoder: Encoder) -> None:
    running = reel(tmp_path, encoder)
    fill(running, encoder, 2)
    running.close("completed")
    catalogue = Catalog(tmp_path)
    catalogue.delete(A)
    assert not (tmp_path / A).exists()
    with pytest.raises(UnknownRecording):
        catalogue.delete(A)


def test_what_a_dead_service_left_is_made_whole(tmp_path: Path, encoder: Encoder) -> None:
    left_by_a_dead_service(tmp_path, encoder)
    catalogue = Catalog(tmp_path)
    assert catalogue.recover() == (A,)
    facts = catalogue.get(A)
    assert (facts["status"], facts["end_reason"], facts["complete"]) == (
        "stored",
        "service_lost",
        False,
    )
    # The journal told of 1.5 s, the video has 1.8 s.
    assert facts["video_s"] == pytest.approx(1.8)
    assert facts["steps"][0]["tool"] == "execute"
    assert [number for _, number in decoded(catalogue.video(A))] == list(range(19))
    assert catalogue.thumbnail(A).read_bytes().startswith(b"\xff\xd8")
    assert catalogue.recover() == ()


def test_what_cannot_be_rescued_is_cleared_away(tmp_path: Path, encoder: Encoder) -> None:
    left_by_a_dead_service(tmp_path, encoder, A)
    left_by_a_dead_service(tmp_path, encoder, B)
    os.truncate(tmp_path / A / "1.mp4", 50)
    (tmp_path / B / "1.journal").write_text("{")
    catalogue = Catalog(tmp_path)
    assert catalogue.recover() == ()
    assert list(catalogue.list()) == []


def test_what_finds_no_room_is_made_whole_another_time(tmp_path: Path, encoder: Encoder) -> None:
    left_by_a_dead_service(tmp_path, encoder)
    catalogue = Catalog(tmp_path)
    _, hard = before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        assert catalogue.recover() == ()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert catalogue.recover() == (A,)
    assert len(decoded(catalogue.video(A))) == 19


@pytest.mark.parametrize("text", ["", "{", "[]", "{}"])
def test_a_torn_description_hides_its_own_recording_only(
    tmp_path: Path, encoder: Encoder, text: str
) -> None:
    for name in (A, B):
        running = reel(tmp_path, encoder, name)
        fill(running, encoder)
        running.close("completed")
    catalogue = Catalog(tmp_path)
    catalogue.paths(A, 1).document.write_text(text)
    assert [one["id"] for one in catalogue.list()] == [B]


def test_an_empty_clip_is_refused_with_its_moments(tmp_path: Path, encoder: Encoder) -> None:
    running = reel(tmp_path, encoder)
    fill(running, encoder)
    running.close("completed")
    with pytest.raises(NoSuchMoment, match="between 1 and 0;"):
        Catalog(tmp_path).clip(A, 1.0, 0.0)


def test_a_description_without_a_document_is_nothing(tmp_path: Path) -> None:
    (tmp_path / A).mkdir()
    (tmp_path / A / "1.mp4").write_bytes(b"x")
    (tmp_path / A / "odd.mp4").write_bytes(b"x")
    assert Catalog(tmp_path).parts(A) == ()


def test_a_recording_that_cannot_be_described_keeps_its_video(
    tmp_path: Path, encoder: Encoder
) -> None:
    running = reel(tmp_path, encoder)
    fill(running, encoder)
    (tmp_path / A / "1.draft").mkdir()
    running.close("completed")
    assert len(decoded(tmp_path / A / "1.mp4")) == 20
    (tmp_path / A / "1.draft").rmdir()
    assert Catalog(tmp_path).recover() == (A,)


def test_what_a_dead_service_was_making_is_cleared_away(tmp_path: Path, encoder: Encoder) -> None:
    running = reel(tmp_path, encoder)
    fill(running, encoder)
    running.close("completed")
    for name in ("1.moving", "1.draft", "1.rescued", "x.clip"):
        (tmp_path / A / name).write_bytes(b"half")
    (tmp_path / ".deleted-x").mkdir()
    (tmp_path / ".deleted-x" / "1.mp4").write_bytes(b"gone")
    catalogue = Catalog(tmp_path)
    assert catalogue.recover() == ()
    assert {path.name for path in (tmp_path / A).iterdir()} <= {"1.mp4", "1.json", "1.jpg"}
    assert [path.name for path in tmp_path.iterdir()] == [A]
    assert list(catalogue.closed()) == [tmp_path / A / "1.mp4"]


def test_a_rescued_file_describes_itself(tmp_path: Path, encoder: Encoder) -> None:
    left_by_a_dead_service(tmp_path, encoder)
    catalogue = Catalog(tmp_path)
    assert catalogue.recover() == (A,)
    told = container.description(catalogue.video(A))
    assert told is not None
    assert parts.read(told).end_reason == "service_lost"
    assert catalogue.get(A)["bytes"] == catalogue.video(A).stat().st_size


def test_deleting_disturbs_nobody_who_reads(tmp_path: Path, encoder: Encoder) -> None:
    running = reel(tmp_path, encoder)
    fill(running, encoder)
    running.close("completed")
    catalogue = Catalog(tmp_path)
    whole = catalogue.video(A).read_bytes()
    with catalogue.video(A).open("rb") as reader:
        catalogue.delete(A)
        assert reader.read() == whole
    assert list(tmp_path.iterdir()) == []
