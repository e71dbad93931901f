"""Settings of recordings: time map, encoder, limits and disk space."""

from dataclasses import dataclass

from .free_space import LOW, Threshold


@dataclass(frozen=True, kw_only=True)
class Squeeze:
    """Shortening of idle periods (see ``timing.timeline``); times in seconds."""

    margin: float = 0.3
    """Real time at both ends of an idle period that plays at normal speed."""

    factor: float = 20.0
    """Speed of the rest of the period."""

    # At least two margins: both ends of a period are part of its video.
    longest: float = 2.0
    """Longest video of one idle period, however long it lasts."""

    vanishing: float = 1_000_000.0
    """Speed once ``longest`` is used up. The value is finite because the time map must have an
    inverse."""


@dataclass(frozen=True, kw_only=True)
class EncoderOptions:
    """Options of libx264 that decide what a frame costs (see ``video.encoder``)."""

    preset: str = "superfast"
    """Preset of libx264; the parameters below replace parts of it."""

    params: str = "subme=0:me=dia:weightp=0:8x8dct=0:no-deblock=1"
    """Further ``x264-params``."""


@dataclass(frozen=True, kw_only=True)
class RecordingSettings:
    """Settings of the recorder of one desktop; times in seconds, sizes in bytes."""

    squeeze: Squeeze = Squeeze()

    most_at_once: int = 5
    """Limit of concurrent recordings of one desktop."""

    rest_after: float = 600.0
    """Time without an action or human input after which a recording rests."""

    largest_file: int = 104_857_600
    """Largest file; the recording continues in the next part. 100 MiB."""

    bits_per_second: int = 8_000_000
    """Largest bit rate of the encoder, averaged over one second (VBV ``maxrate``)."""

    encoder: EncoderOptions = EncoderOptions()

    key_every: float = 10.0
    """Largest distance between two keyframes, in seconds of video."""

    step_key_apart: float = 2.0
    """Distance from the last keyframe, in video time, from which a step gets its own."""

    animation_after: float = 5.0
    """Time of damage without a pause and without input after which it is an animation."""

    animation_fps: int = 5
    """Frame rate of an animation; input restores the full rate at once."""

    repeat_after: float = 1.0
    """Time without damage after which the encoder repeats the last frame, so that no frame waits
    in a buffer."""

    sync_every: float = 5.0
    """Interval of ``fdatasync`` on the video files."""

    # Larger than `free_to_go_on`, so that a recording does not end right after its start.
    free_to_start: int = LOW.most
    """Free disk space that a start requires."""

    free_to_go_on: int = 256 << 20
    """Free disk space below which the recorder closes all files while closing still succeeds."""

    free_share: float = LOW.share
    """Share of a small disk that is enough for a start, if that is less than ``free_to_start``."""

    @property
    def to_start(self) -> Threshold:
        """The free space that a start requires."""
        return Threshold(self.free_to_start, self.free_share)

    @property
    def to_go_on(self) -> Threshold:
        """The free space below which all recordings are finished."""
        return Threshold(self.free_to_go_on, self.free_share / 4)
