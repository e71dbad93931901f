import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from deskhand.recording.errors import InvalidRecordingId, NoSuchMoment, UnknownRecording
from deskhand.recording.library import metadata
from deskhand.recording.library.catalog import Catalog, checked
from deskhand.recording.library.metadata import Part
from deskhand.recording.pipeline.part_writer import PartWriter
from deskhand.recording.step import Step
from deskhand.recording.timing.size_budget import QUALITY_LEVELS
from deskhand.recording.timing.timeline import TimeMap
from deskhand.recording.video import mp4_file
from deskhand.recording.video.encoder import Encoder
from tests.recording.fakes import decoded, marked

A = "a1111111-2222-3333-4444-555555555555"
B = "b1111111-2222-3333-4444-555555555555"


@pytest.fixture
def encoder() -> Iterator[Encoder]:
    with Encoder((320, 240), QUALITY_LEVELS[0], 8_000_000) as encoder:
        yield encoder


def writer(
    folder: Path, encoder: Encoder, name: str = A, index: int = 1, session_number: int = 1
) -> PartWriter:
    part = Part(
        recording_id=name,
        index=index,
        session_number=session_number,
        label="x",
        started_at=1000.0 + index,
    )
    return PartWriter(part, Catalog(folder), encoder.stream, origin=50.0, cap=100_000_000, level=0)


def fill(writer: PartWriter, encoder: Encoder, frames: int = 20) -> None:
    for number in range(frames):
        encoded = encoder.encode(marked(number), 50.0 + number / 10, key=number == 0)
        writer.write(encoded, 7_000 + number * 100)
    writer.add_step(Step(tool="execute", started=50.5, ended=50.7))
    writer.extend_map(TimeMap(((0.0, 0.0), (1.5, 1.5))), 51.5)


def left_by_a_killed_service(folder: Path, encoder: Encoder, name: str = A) -> None:
    """Write files as a kill leaves them: copies of those of a part that was never closed."""
    alive = folder / "alive"
    running = writer(alive, encoder, name)
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
    running = writer(tmp_path, encoder)
    fill(running, encoder)
    running.close("completed")
    catalog = Catalog(tmp_path)
    facts = catalog.get(A)
    assert (facts["status"], facts["end_reason"], facts["complete"]) == (
        "stored",
        "completed",
        True,
    )
    assert facts["bytes"] == catalog.video(A).stat().st_size
    assert facts["steps"][0]["video_start"] == 0.5
    assert sorted(path.name for path in (tmp_path / A).iterdir()) == ["1.json", "1.mp4"]


def test_an_active_recording_is_found_too(tmp_path: Path, encoder: Encoder) -> None:
    running = writer(tmp_path, encoder)
    fill(running, encoder)
    catalog = Catalog(tmp_path)
    facts = catalog.get(A)
    assert (facts["status"], facts["end_reason"]) == ("recording", None)
    assert facts["bytes"] > 0
    assert (facts["duration_s"], facts["video_s"]) == (1.5, 1.5)
    assert "execute" in catalog.steps_vtt(A)
    running.close("completed")


def test_frames_before_the_start_of_a_part_are_not_written(
    tmp_path: Path, encoder: Encoder
) -> None:
    running = writer(tmp_path, encoder)
    early = encoder.encode(marked(9), 49.0, key=True)
    running.write(early, 6_000)
    fill(running, encoder, 3)
    running.close("completed")
    assert decoded(Catalog(tmp_path).video(A)) == [(0.0, 0), (0.1, 1), (0.2, 2)]


def test_newest_recordings_come_first_without_their_details(
    tmp_path: Path, encoder: Encoder
) -> None:
    for index, name in ((1, A), (2, B)):
        running = writer(tmp_path, encoder, name, index)
        fill(running, encoder, 2)
        running.close("completed")
    (tmp_path / "something else").mkdir()
    listed = Catalog(tmp_path).list()
    assert [one["id"] for one in listed] == [B, A]
    assert "steps" not in listed[0]


def test_a_folder_that_does_not_exist_holds_nothing(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path / "none")
    assert list(catalog.list()) == []
    assert catalog.recover() == ()
    assert catalog.next_index(A) == 1
    with pytest.raises(UnknownRecording):
        catalog.get(A)


def test_an_older_part_is_found_by_its_number(tmp_path: Path, encoder: Encoder) -> None:
    for index in (1, 2):
        running = writer(tmp_path, encoder, index=index, session_number=index)
        fill(running, encoder, 2)
        running.close("completed")
    catalog = Catalog(tmp_path)
    assert catalog.video(A).name == "2.mp4"
    assert catalog.video(A, 1).name == "1.mp4"
    assert catalog.next_index(A) == 3
    with pytest.raises(UnknownRecording):
        catalog.video(A, 3)
    with pytest.raises(UnknownRecording):
        catalog.thumbnail(A)


def test_deleting_removes_everything(tmp_path: Path, encoder: Encoder) -> None:
    running = writer(tmp_path, encoder)
    fill(running, encoder, 2)
    running.close("completed")
    catalog = Catalog(tmp_path)
    catalog.delete(A)
    assert not (tmp_path / A).exists()
    with pytest.raises(UnknownRecording):
        catalog.delete(A)


def test_files_of_a_killed_service_are_recovered(tmp_path: Path, encoder: Encoder) -> None:
    left_by_a_killed_service(tmp_path, encoder)
    catalog = Catalog(tmp_path)
    assert catalog.recover() == (A,)
    facts = catalog.get(A)
    assert (facts["status"], facts["end_reason"], facts["complete"]) == (
        "stored",
        "service_lost",
        False,
    )
    # The journal covers 1.5 s, the video has 1.9 s.
    assert facts["video_s"] == pytest.approx(1.9)
    assert facts["steps"][0]["tool"] == "execute"
    assert [number for _, number in decoded(catalog.video(A))] == list(range(20))
    assert catalog.thumbnail(A).read_bytes().startswith(b"\xff\xd8")
    assert catalog.recover() == ()


def test_files_that_cannot_be_recovered_are_removed(tmp_path: Path, encoder: Encoder) -> None:
    left_by_a_killed_service(tmp_path, encoder, A)
    left_by_a_killed_service(tmp_path, encoder, B)
    os.truncate(tmp_path / A / "1.mp4", 50)
    (tmp_path / B / "1.journal").write_text("{")
    catalog = Catalog(tmp_path)
    assert catalog.recover() == ()
    assert list(catalog.list()) == []


def test_a_recovery_without_room_is_repeated_at_the_next_start(
    tmp_path: Path, encoder: Encoder
) -> None:
    left_by_a_killed_service(tmp_path, encoder)
    catalog = Catalog(tmp_path)
    _, hard = before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        assert catalog.recover() == ()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert catalog.recover() == (A,)
    assert len(decoded(catalog.video(A))) == 20


@pytest.mark.parametrize("text", ["", "{", "[]", "{}"])
def test_a_truncated_description_hides_its_own_recording_only(
    tmp_path: Path, encoder: Encoder, text: str
) -> None:
    for name in (A, B):
        running = writer(tmp_path, encoder, name)
        fill(running, encoder)
        running.close("completed")
    catalog = Catalog(tmp_path)
    catalog.paths(A, 1).document.write_text(text)
    assert [one["id"] for one in catalog.list()] == [B]


def test_an_empty_clip_is_refused_with_its_moments(tmp_path: Path, encoder: Encoder) -> None:
    running = writer(tmp_path, encoder)
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
    running = writer(tmp_path, encoder)
    fill(running, encoder)
    (tmp_path / A / "1.draft").mkdir()
    running.close("completed")
    assert len(decoded(tmp_path / A / "1.mp4")) == 20
    (tmp_path / A / "1.draft").rmdir()
    assert Catalog(tmp_path).recover() == (A,)


def test_temporary_files_of_a_killed_service_are_removed(tmp_path: Path, encoder: Encoder) -> None:
    running = writer(tmp_path, encoder)
    fill(running, encoder)
    running.close("completed")
    for name in ("1.moving", "1.draft", "1.rescued", "x.clip"):
        (tmp_path / A / name).write_bytes(b"half")
    (tmp_path / ".deleted-x").mkdir()
    (tmp_path / ".deleted-x" / "1.mp4").write_bytes(b"gone")
    catalog = Catalog(tmp_path)
    assert catalog.recover() == ()
    assert {path.name for path in (tmp_path / A).iterdir()} <= {"1.mp4", "1.json", "1.jpg"}
    assert [path.name for path in tmp_path.iterdir()] == [A]
    assert list(catalog.closed()) == [tmp_path / A / "1.mp4"]


def test_a_recovered_file_contains_its_description(tmp_path: Path, encoder: Encoder) -> None:
    left_by_a_killed_service(tmp_path, encoder)
    catalog = Catalog(tmp_path)
    assert catalog.recover() == (A,)
    stored = mp4_file.description(catalog.video(A))
    assert stored is not None
    assert metadata.read(stored).end_reason == "service_lost"
    assert catalog.get(A)["bytes"] == catalog.video(A).stat().st_size


def test_deleting_does_not_disturb_readers(tmp_path: Path, encoder: Encoder) -> None:
    running = writer(tmp_path, encoder)
    fill(running, encoder)
    running.close("completed")
    catalog = Catalog(tmp_path)
    whole = catalog.video(A).read_bytes()
    with catalog.video(A).open("rb") as reader:
        catalog.delete(A)
        assert reader.read() == whole
    assert list(tmp_path.iterdir()) == []
