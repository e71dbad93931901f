"""What can go wrong while recording.

RecordingError
├── RecorderClosed        the recorder is shutting down; nothing new begins
├── InvalidRecordingId    the caller's id is no UUID
├── UnknownRecording      there is no recording of that id
│   └── NotInRecording    it has no such part, take, step or thumbnail
├── NoSuchMoment          the recording does not show what was asked for
├── TooManyRecordings     the limit of recordings at once is reached
├── StillRecording        the recording must be stopped first
├── DiskFull              too little room to begin or to go on
├── FeedEnded             the display is gone; no picture will come any more
├── RecordingFailed       the first picture did not come, or the encoder refused
└── UnreadableFilm        a video file holds no picture that can be shown
"""


class RecordingError(Exception):
    """Base of everything this package raises."""


class RecorderClosed(RecordingError):
    """The recorder is shutting down."""

    def __str__(self) -> str:
        return "the recorder is shutting down"


class InvalidRecordingId(RecordingError):
    """The id of a recording is a path name and must therefore be a UUID."""

    def __str__(self) -> str:
        return "recording_id must be a valid UUID."


class UnknownRecording(RecordingError):
    """No recording of that id was started or stored."""

    def __init__(self, recording_id: str) -> None:
        super().__init__(recording_id)
        self.recording_id = recording_id

    def __str__(self) -> str:
        return "unknown recording ID"


class NotInRecording(UnknownRecording):
    """The recording is known, and has no such part, take, step or thumbnail."""

    def __init__(self, recording_id: str, kind: str, which: int | None = None) -> None:
        super().__init__(recording_id)
        self.kind = kind
        self.which = which

    def __str__(self) -> str:
        named = self.kind if self.which is None else f"{self.kind} {self.which}"
        return f"the recording has no {named}"


class NoSuchMoment(RecordingError):
    """A stretch or a step of which the recording shows nothing."""

    def __init__(self, asked: str, video_s: float) -> None:
        super().__init__(asked, video_s)
        self.asked = asked
        self.video_s = video_s

    def __str__(self) -> str:
        return f"{self.asked}; the video is {self.video_s:.3f} s long"


class TooManyRecordings(RecordingError):
    """All places are taken; stop one recording first."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self.most = most

    def __str__(self) -> str:
        return f"too many concurrent recordings (max {self.most})"


class StillRecording(RecordingError):
    """A recording that runs cannot be deleted."""

    def __init__(self, recording_id: str) -> None:
        super().__init__(recording_id)
        self.recording_id = recording_id

    def __str__(self) -> str:
        return f"recording {self.recording_id} is still running; stop it first"


class DiskFull(RecordingError):
    """The file system has less room than a recording needs."""

    def __init__(self, free: int, needed: int) -> None:
        super().__init__(free, needed)
        self.free = free
        self.needed = needed

    def __str__(self) -> str:
        free, needed = (size / 1e6 for size in (self.free, self.needed))
        return f"the disk is too full: {free:.0f} MB free, {needed:.0f} MB needed to record"


class FeedEnded(RecordingError):
    """The display is gone; raised by a feed instead of a picture."""

    def __str__(self) -> str:
        return "the display is gone"


class RecordingFailed(RecordingError):
    """Recording could not begin or go on."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return self.reason


class UnreadableVideo(RecordingError):
    """A video file holds no picture that can be shown."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"
