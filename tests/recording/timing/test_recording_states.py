import pytest

from deskhand.recording.errors import TooManyRecordings, UnknownRecording
from deskhand.recording.timing.recording_states import RecordingState, RecordingStates


def states() -> RecordingStates:
    return RecordingStates(most=2, rest_after=600.0)


def test_starting_an_active_recording_has_no_effect() -> None:
    recordings = states()
    assert recordings.start("a", 0.0)
    assert not recordings.start("a", 1.0)
    assert recordings.active() == ("a",)


def test_a_stopped_recording_starts_anew() -> None:
    recordings = states()
    recordings.start("a", 0.0)
    assert recordings.stop("a")
    assert recordings.state("a") is RecordingState.STOPPED
    assert recordings.start("a", 2.0)
    assert recordings.active() == ("a",)


def test_stopping_twice_has_no_effect() -> None:
    recordings = states()
    recordings.start("a", 0.0)
    assert recordings.stop("a")
    assert not recordings.stop("a")


def test_stopping_an_unknown_recording_is_an_error() -> None:
    with pytest.raises(UnknownRecording):
        states().stop("a")
    assert states().state("a") is None


def test_one_too_many_is_refused_and_leaves_no_trace() -> None:
    recordings = states()
    recordings.start("a", 0.0)
    recordings.start("b", 0.0)
    with pytest.raises(TooManyRecordings, match=r"^too many concurrent recordings \(max 2\)$"):
        recordings.start("c", 0.0)
    assert recordings.state("c") is None
    assert not recordings.start("a", 1.0)


def test_a_slot_is_free_again_after_a_stop() -> None:
    recordings = states()
    recordings.start("a", 0.0)
    recordings.start("b", 0.0)
    recordings.stop("a")
    assert recordings.start("c", 0.0)
    assert recordings.active() == ("b", "c")


def test_recordings_rest_after_ten_minutes_without_activity() -> None:
    recordings = states()
    recordings.start("a", 0.0)
    assert recordings.rest(599.9) == ()
    assert recordings.rest(600.0) == ("a",)
    assert recordings.rest(601.0) == ()
    assert recordings.state("a") is RecordingState.RESTING


def test_activity_postpones_the_rest() -> None:
    recordings = states()
    recordings.start("a", 0.0)
    assert recordings.activity(300.0) == ()
    assert recordings.rest(600.0) == ()
    assert recordings.next_rest() == 900.0
    assert recordings.rest(900.0) == ("a",)
    assert recordings.next_rest() is None


def test_starting_another_recording_is_activity() -> None:
    recordings = states()
    recordings.start("a", 0.0)
    recordings.start("b", 500.0)
    assert recordings.rest(700.0) == ()


def test_activity_resumes_resting_recordings() -> None:
    recordings = states()
    recordings.start("a", 0.0)
    recordings.rest(600.0)
    assert recordings.activity(700.0) == ("a",)
    assert recordings.activity(701.0) == ()


def test_only_as_many_resume_as_there_are_slots() -> None:
    recordings = states()
    recordings.start("a", 0.0)
    recordings.start("b", 0.0)
    recordings.rest(600.0)
    recordings.start("c", 601.0)
    assert recordings.activity(602.0) == ("a",)
    recordings.stop("c")
    assert recordings.activity(603.0) == ("b",)


def test_a_resting_recording_can_be_stopped_without_closing_a_file() -> None:
    recordings = states()
    recordings.start("a", 0.0)
    recordings.rest(600.0)
    assert not recordings.stop("a")
    assert recordings.activity(700.0) == ()


def test_a_forgotten_recording_is_unknown() -> None:
    recordings = states()
    recordings.start("a", 0.0)
    recordings.forget("a")
    recordings.forget("a")
    assert recordings.active() == ()
    assert recordings.state("a") is None
