import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from deskhand.recording.errors import (
    FeedEnded,
    InvalidRecordingId,
    RecorderClosed,
    StillRecording,
    TooManyRecordings,
    UnknownRecording,
)
from deskhand.recording.library.catalog import Catalog
from deskhand.recording.pipeline.recorder import Recorder
from deskhand.recording.settings import RecordingSettings
from deskhand.recording.step import Step
from deskhand.recording.video.mp4_file import outermost
from tests.recording.fakes import WAIT, FakeFeed, FakeSource, decoded, marked

A, B, C, D, E, F = (f"{digit}1111111-2222-3333-4444-555555555555" for digit in "abcdef")
SETTINGS = RecordingSettings(free_to_start=0, free_to_go_on=0)


@pytest.fixture
def source() -> FakeSource:
    return FakeSource(marked(0))


@pytest.fixture
def recorder(tmp_path: Path, source: FakeSource) -> Iterator[Recorder]:
    with Recorder(source, tmp_path, SETTINGS) as recorder:
        yield recorder


def wait_until(condition: Callable[[], bool]) -> None:
    done = threading.Event()
    for _ in range(int(WAIT / 0.01)):
        if condition():
            return
        done.wait(0.01)
    raise AssertionError("it did not happen")


def test_all_frames_are_in_the_file_when_stop_returns(
    recorder: Recorder, source: FakeSource
) -> None:
    recorder.start(A)
    for number in range(1, 6):
        source.show(marked(number))
    stored = recorder.stop(A)
    assert stored.complete
    assert stored.end_reason == "completed"
    (video,) = stored.videos
    assert {number for _, number in decoded(video)} >= {0, 1, 2, 3, 4}
    assert stored.thumbnail is not None


def test_a_recording_shows_the_current_frame_from_its_start(
    recorder: Recorder, source: FakeSource
) -> None:
    source.picture = marked(77)
    recorder.start(A)
    assert decoded(recorder.stop(A).videos[0])[0] == (0.0, 77)


def test_starting_and_stopping_twice_is_fine(recorder: Recorder) -> None:
    recorder.start(A.upper())
    recorder.start(A)
    assert recorder.active() == (A,)
    assert recorder.stop(A) == recorder.stop(A)
    assert recorder.active() == ()


def test_the_display_is_read_only_while_a_recording_is_active(
    recorder: Recorder, source: FakeSource
) -> None:
    assert source.feeds == []
    recorder.start(A)
    recorder.start(B)
    recorder.stop(A)
    assert [feed.closed for feed in source.feeds] == [False]
    recorder.stop(B)
    assert [feed.closed for feed in source.feeds] == [True]


def test_bad_and_unknown_ids_are_refused(recorder: Recorder) -> None:
    with pytest.raises(InvalidRecordingId):
        recorder.start("../../x")
    with pytest.raises(InvalidRecordingId):
        recorder.stop("x")
    with pytest.raises(UnknownRecording):
        recorder.stop(A)


def test_a_sixth_recording_is_refused(recorder: Recorder) -> None:
    for name in (A, B, C, D, E):
        recorder.start(name)
    with pytest.raises(TooManyRecordings):
        recorder.start(F)
    recorder.stop(C)
    recorder.start(F)
    assert recorder.active() == (A, B, D, E, F)


def test_a_recording_of_an_earlier_service_can_be_stopped_again(
    tmp_path: Path, source: FakeSource
) -> None:
    with Recorder(source, tmp_path, SETTINGS) as recorder:
        recorder.start(A)
    with Recorder(source, tmp_path, SETTINGS) as recorder:
        assert recorder.stop(A).end_reason == "closed"


def test_when_the_display_is_lost_files_are_closed(recorder: Recorder, source: FakeSource) -> None:
    recorder.start(A)
    source.lose()
    wait_until(lambda: recorder.active() == ())
    stored = recorder.stop(A)
    assert (stored.end_reason, stored.complete) == ("display_lost", False)
    assert decoded(stored.videos[0])


def at_once(*works: Callable[[], object]) -> None:
    """Run all functions at the same moment, as far as threads can; re-raise their errors."""
    gate = threading.Barrier(len(works))

    def begin(work: Callable[[], object]) -> None:
        gate.wait(WAIT)
        work()

    with ThreadPoolExecutor(len(works)) as pool:
        for done in [pool.submit(begin, work) for work in works]:
            done.result(WAIT)


@pytest.mark.parametrize("turn", range(5))
def test_a_stop_while_the_display_dies_leaves_a_whole_recording(
    recorder: Recorder, source: FakeSource, turn: int
) -> None:
    recorder.start(A)
    source.show(marked(turn))
    at_once(lambda: recorder.stop(A), source.lose)
    wait_until(lambda: recorder.active() == ())
    stored = recorder.stop(A)
    assert stored.end_reason in {"completed", "display_lost"}
    assert stored.complete is (stored.end_reason == "completed")
    assert decoded(stored.videos[0])


@pytest.mark.parametrize("turn", range(5))
def test_a_stop_and_a_start_at_once_leave_one_recording_or_two(
    recorder: Recorder, source: FakeSource, tmp_path: Path, turn: int
) -> None:
    recorder.start(A)
    source.show(marked(turn))
    at_once(lambda: recorder.stop(A), lambda: recorder.start(A))
    running = recorder.active() == (A,)
    recorder.stop(A)
    sessions = {part.session_number for part in Catalog(tmp_path).parts(A)}
    assert sessions == ({1, 2} if running else {1})
    assert recorder.active() == ()


def test_a_stop_while_the_desktop_closes_is_answered_and_the_file_is_whole(
    tmp_path: Path, source: FakeSource
) -> None:
    for turn in range(5):
        recorder = Recorder(source, tmp_path / str(turn), SETTINGS)
        recorder.open()
        recorder.start(A)

        def stop(recorder: Recorder = recorder) -> None:
            with suppress(RecorderClosed):
                recorder.stop(A)

        at_once(stop, recorder.close)
        facts = Catalog(tmp_path / str(turn)).get(A)
        assert (facts["status"], facts["complete"]) == ("stored", True)
        assert facts["end_reason"] in {"completed", "closed"}


class BlackSource(FakeSource):
    """Display that ended before its first frame was read."""

    def subscribe(self) -> FakeFeed:
        feed = super().subscribe()
        feed.next_frame(0)
        feed.lose()
        return feed


def test_a_display_that_is_gone_is_not_recorded(tmp_path: Path) -> None:
    with Recorder(BlackSource(), tmp_path, SETTINGS) as recorder:
        with pytest.raises(FeedEnded):
            recorder.start(A)
        assert recorder.active() == ()
        with pytest.raises(UnknownRecording):
            recorder.stop(A)


def test_closing_closes_the_files(tmp_path: Path, source: FakeSource) -> None:
    recorder = Recorder(source, tmp_path, SETTINGS)
    recorder.open()
    recorder.start(A)
    recorder.close()
    recorder.close()
    assert Catalog(tmp_path).get(A)["end_reason"] == "closed"
    with pytest.raises(RecorderClosed):
        recorder.start(B)
    with pytest.raises(RecorderClosed):
        recorder.add_step(Step())


def test_files_are_closed_although_the_body_failed(tmp_path: Path, source: FakeSource) -> None:
    def body() -> None:
        with Recorder(source, tmp_path, SETTINGS) as recorder:
            recorder.start(A)
            recorder.start("no id")

    with pytest.raises(InvalidRecordingId):
        body()
    assert Catalog(tmp_path).get(A)["status"] == "stored"


def test_steps_come_from_the_desktop_and_from_other_services(
    recorder: Recorder, source: FakeSource, tmp_path: Path
) -> None:
    recorder.start(A)
    now = source.show(marked(1))
    recorder.add_step(Step(tool_call_id="t", action="type", started=now, ended=now))
    begun = Catalog(tmp_path).get(A)["started_at"]
    recorder.add_reported_step(Step(tool="execute", started=begun + 50, ended=begun + 51))
    recorder.touch()
    recorder.stop(A)
    steps = Catalog(tmp_path).get(A)["steps"]
    assert [step["action"] or step["tool"] for step in steps] == ["type", "execute"]
    assert steps[1]["started_at"] == pytest.approx(begun + 50, abs=0.01)


def test_input_of_people_is_distinct_from_input_of_agents(
    recorder: Recorder, source: FakeSource, tmp_path: Path
) -> None:
    recorder.start(A)
    for _ in range(50):
        recorder.note_activity("human")
        recorder.touch()
    source.show(marked(1))
    recorder.stop(A)
    (step,) = Catalog(tmp_path).get(A)["steps"]
    assert step["tool"] == "human"


def test_secrets_are_in_no_file(tmp_path: Path, source: FakeSource) -> None:
    def hidden(text: str) -> str:
        return text.replace("hunter2", "[secret]")

    with Recorder(source, tmp_path, SETTINGS, mask=hidden) as recorder:
        recorder.start(A)
        recorder.add_step(Step(action="type", text="hunter2", title="Type hunter2"))
        (journal,) = tmp_path.glob("*/*.journal")
        source.show(marked(1))
        wait_until(lambda: "[secret]" in journal.read_text())
        assert "hunter2" not in journal.read_text()
        recorder.stop(A)
    for path in tmp_path.glob("*/*"):
        assert b"hunter2" not in path.read_bytes()


def test_activity_after_the_end_is_ignored(recorder: Recorder) -> None:
    recorder.close()
    recorder.note_activity("human")
    recorder.touch()


def test_a_file_without_fast_start_is_processed_at_the_next_start(
    tmp_path: Path, source: FakeSource
) -> None:
    with Recorder(source, tmp_path, SETTINGS) as first:
        first.start(A)
        source.show(marked(1))
    video = Catalog(tmp_path).video(A)
    size = video.stat().st_size
    with Recorder(source, tmp_path, SETTINGS):
        wait_until(lambda: index_first(video))
    assert video.stat().st_size == size
    assert decoded(video)


def index_first(video: Path) -> bool:
    with video.open("rb") as file:
        kinds = [box.kind for box in outermost(file.fileno())]
    return kinds.index(b"moov") < kinds.index(b"mdat")


def test_only_an_ended_recording_can_be_deleted(recorder: Recorder, tmp_path: Path) -> None:
    recorder.start(A)
    with pytest.raises(StillRecording):
        recorder.delete(A)
    recorder.stop(A)
    recorder.delete(A)
    assert not (tmp_path / A).exists()
    with pytest.raises(UnknownRecording):
        recorder.stop(A)
    recorder.start(A)


def test_many_callers_at_once_do_not_disturb_each_other(
    recorder: Recorder,
) -> None:
    def work(index: int) -> None:
        name = (A, B, C, D)[index % 4]
        recorder.start(name)
        recorder.add_step(Step(tool=str(index)))
        recorder.stop(name)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(40)))
    assert recorder.active() == ()
    for name in (A, B, C, D):
        assert decoded(recorder.stop(name).videos[0])


def test_the_recorder_outlives_the_folder_of_its_recordings(
    tmp_path: Path, source: FakeSource
) -> None:
    folder = tmp_path / "recordings"
    settings = RecordingSettings(free_to_start=0, free_to_go_on=0, sync_every=0.0)
    with Recorder(source, folder, settings) as recorder:
        recorder.start(A)
        folder.rename(tmp_path / "elsewhere")
        source.show(marked(1))
        wait_until(lambda: recorder.active() == ())
        recorder.start(B)
        assert recorder.stop(B).complete
