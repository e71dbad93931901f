import pytest

from deskhand.recording import errors


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (errors.TooManyRecordings(5), "too many concurrent recordings (max 5)"),
        (errors.UnknownRecording("x"), "unknown recording ID"),
        (errors.NotInRecording("x", "part", 9), "the recording has no part 9"),
        (errors.NotInRecording("x", "thumbnail"), "the recording has no thumbnail"),
        (errors.InvalidRecordingId(), "recording_id must be a valid UUID."),
        (errors.RecorderClosed(), "the recorder is shutting down"),
        (errors.StillRecording("x"), "recording x is still running; stop it first"),
        (
            errors.DiskFull(300_000_000, 1 << 30),
            "the disk is too full: 300 MB free, 1074 MB needed to record",
        ),
        (errors.NoSuchMoment("no step 9", 1.5), "no step 9; the video is 1.500 s long"),
        (errors.FeedEnded(), "the display is gone"),
        (errors.RecordingFailed("because"), "because"),
        (errors.UnreadableVideo("1.mp4", "empty"), "1.mp4: empty"),
    ],
)
def test_an_error_has_a_message(error: errors.RecordingError, sentence: str) -> None:
    assert str(error) == sentence
