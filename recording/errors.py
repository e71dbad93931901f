"""Errors of the recorder.

RecordingError
├── RecorderClosed        the recorder is shutting down and accepts no commands
├── InvalidRecordingId    the id in the request is not a UUID
├── UnknownRecording      no recording has that id
│   └── NotInRecording    the recording has no such part, session, step or thumbnail
├── NoSuchMoment          the video does not contain the requested moment
├── TooManyRecordings     the limit of concurrent recordings is reached
├── StillRecording        the recording must be stopped first
├── DiskFull              too little free disk space to begin or to continue
├── FeedEnded             the display is gone; the feed delivers no more frames
├── RecordingFailed       the first frame did not arrive, or the encoder or a file failed
└── UnreadableVideo       a video file contains no frame that can be decoded
"""


class RecordingError(Exception):
    """Base of all errors of this package."""


class RecorderClosed(RecordingError):
    """The recorder is shutting down."""

    def __str__(self) -> str:
        return "the recorder is shutting down"


class InvalidRecordingId(RecordingError):
    """Id that is not a UUID; the id is also a folder name, so nothing else is allowed."""

    def __str__(self) -> str:
        return "recording_id must be a valid UUID."


class UnknownRecording(RecordingError):
    """Id under which no recording was started or stored."""

    def __init__(self, recording_id: str) -> None:
        super().__init__(recording_id)
        self.recording_id = recording_id

    def __str__(self) -> str:
        return "unknown recording ID"


# A handler that distinguishes both must catch this subclass before `UnknownRecording`.
class NotInRecording(UnknownRecording):
    """Part, session, step or thumbnail that an existing recording lacks."""

    def __init__(self, recording_id: str, kind: str, which: int | None = None) -> None:
        super().__init__(recording_id)
        self.kind = kind
        self.which = which

    def __str__(self) -> str:
        named = self.kind if self.which is None else f"{self.kind} {self.which}"
        return f"the recording has no {named}"


class NoSuchMoment(RecordingError):
    """Period or step that the video does not contain."""

    def __init__(self, asked: str, video_s: float) -> None:
        super().__init__(asked, video_s)
        self.asked = asked
        self.video_s = video_s

    def __str__(self) -> str:
        return f"{self.asked}; the video is {self.video_s:.3f} s long"


class TooManyRecordings(RecordingError):
    """Start of a recording while the limit of concurrent recordings is reached."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self.most = most

    def __str__(self) -> str:
        return f"too many concurrent recordings (max {self.most})"


class StillRecording(RecordingError):
    """Deletion of a recording that is still active."""

    def __init__(self, recording_id: str) -> None:
        super().__init__(recording_id)
        self.recording_id = recording_id

    def __str__(self) -> str:
        return f"recording {self.recording_id} is still running; stop it first"


class DiskFull(RecordingError):
    """Less free space on the file system than a recording needs."""

    def __init__(self, free: int, needed: int) -> None:
        super().__init__(free, needed)
        self.free = free
        self.needed = needed

    def __str__(self) -> str:
        free, needed = (size / 1e6 for size in (self.free, self.needed))
        return f"the disk is too full: {free:.0f} MB free, {needed:.0f} MB needed to record"


class FeedEnded(RecordingError):
    """End of the display; a feed raises it in place of the next frame."""

    def __str__(self) -> str:
        return "the display is gone"


class RecordingFailed(RecordingError):
    """Failure of the encoder, of a file or of the first frame."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return self.reason


class UnreadableVideo(RecordingError):
    """Video file without a frame that can be decoded."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"
