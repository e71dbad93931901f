"""Size budget of one recorded file: quality levels below a cap.

Quality falls level by level. Each level may spend half of the budget that is left when it begins,
so the last level is reached long before the cap. At the cap the recorder closes the file and opens
the next part; frames are never dropped to save space.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class QualityLevel:
    """Constant rate factor of x264, largest frame rate and resolution of one level."""

    crf: int
    fps: int
    blurred: bool = False
    """Scale to half the size and back: half the detail in the same coded size."""


# 6 crf halve the bit rate of x264 (Encode/H.264 of the FFmpeg wiki). All levels have one coded
# size, so that the encoder can change inside a file.
QUALITY_LEVELS = (
    QualityLevel(23, 15),
    QualityLevel(28, 15),
    QualityLevel(33, 10),
    QualityLevel(38, 5),
    QualityLevel(43, 2, blurred=True),
)

NEXT_PART = 2
"""First level of a part whose predecessor reached the cap: the same content would fill it too."""

FULL = 0.98
"""Share of the cap at which a file ends; the rest is room for frames that are still encoded."""

IN_FLIGHT = 1_500_000
"""Bytes that are still appended to a full file: 0.3 s at the encoder's bit rate, one frame of a
whole second of it, and the description. A quarter of a small cap must be enough."""

INDEX_ENTRY = 40
"""Bytes that the index at the end of a file takes for one frame, rounded up generously."""

INDEX_HEAD = 65_536
"""Bytes of a file that do not depend on the number of frames."""


class SizeBudget:
    """Quality level and remaining room of one growing file."""

    def __init__(self, cap: int, level: int = 0) -> None:
        self._cap = cap
        self._level = level
        self._spent = 0
        self._until = cap / 2
        self._reserve = max((1 - FULL) * cap, min(IN_FLIGHT, cap / 4))

    @property
    def level(self) -> int:
        """Index in ``QUALITY_LEVELS``."""
        return self._level

    @property
    def full(self) -> bool:
        """True once the file must be closed."""
        return self._spent >= self._cap - self._reserve

    def spent(self, size: int, frames: int) -> None:
        """Record that the file is ``size`` bytes long and contains ``frames`` frames."""
        # The moov box is written at the end, so its future size is part of the budget.
        self._spent = size + frames * INDEX_ENTRY + INDEX_HEAD
        # One large frame may pass several thresholds at once.
        while self._spent >= self._until and self._level < len(QUALITY_LEVELS) - 1:
            self._level += 1
            self._until = (self._until + self._cap) / 2


def shared_level(levels: list[int]) -> int:
    """Return the level of an encoder that several recordings share: the best that any needs.

    Quality falls only when all files require it; a file that is full before continues in a new
    part.
    """
    return min(levels, default=0)
