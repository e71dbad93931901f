"""How recordings are made, and what they may cost."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Squeeze:
    """How an idle stretch is shortened; times in seconds."""

    margin: float = 0.3
    """Kept at normal speed on both sides of an idle stretch."""

    factor: float = 20.0
    """How much faster the rest of it plays."""

    longest: float = 2.0
    """Video that one idle stretch may take, however long it lasted."""

    vanishing: float = 1_000_000.0
    """How much faster it plays once ``longest`` is used up. Not infinite: the map of times
    must have an inverse."""


@dataclass(frozen=True, kw_only=True)
class RecordingSettings:
    """Every default is usable; times in seconds, sizes in bytes."""

    squeeze: Squeeze = Squeeze()

    most_at_once: int = 5
    """Recordings of one desktop that may run at the same time."""

    rest_after: float = 600.0
    """Without an action or human input for this long a recording stops by itself."""

    largest_file: int = 104_857_600
    """A file never gets larger; recording goes on in a next part."""

    bits_per_second: int = 8_000_000
    """Upper bound of the encoder, over one second."""

    key_every: float = 10.0
    """Longest way between two seek points, in seconds of video."""

    step_key_apart: float = 2.0
    """A step gets its own seek point when the last one is at least this far, in video time."""

    animation_after: float = 5.0
    """What paints for this long without a pause and without input is an animation."""

    animation_fps: int = 5
    """Pictures a second of an animation; input brings the full rate back at once."""

    repeat_after: float = 1.0
    """In silence the last picture is written once more, so that nothing waits in a buffer."""

    sync_every: float = 5.0
    """How often written data is forced to the disk."""

    free_to_start: int = 1 << 30
    """Below this much room no recording begins."""

    free_to_go_on: int = 256 << 20
    """Below this much room running recordings are closed while they still can be."""
