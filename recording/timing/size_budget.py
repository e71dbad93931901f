"""How a recording stays below its largest size without being dropped.

Quality falls in rungs. Each rung may spend half of what is left when it is entered, so the last
one is reached long before the cap; the cap itself is met with a new file, never with a loss.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class QualityLevel:
    """One quality of encoding."""

    crf: int
    fps: int
    blurred: bool = False
    """Half the detail at the same size."""


QUALITY_LEVELS = (
    QualityLevel(23, 15),
    QualityLevel(28, 15),
    QualityLevel(33, 10),
    QualityLevel(38, 5),
    QualityLevel(43, 2, blurred=True),
)

NEXT_PART = 2
"""Where a part begins whose predecessor reached the cap: what filled one file fills another."""

FULL = 0.98
"""Share of the cap at which a file ends; the rest is room for frames on their way."""

IN_FLIGHT = 1_500_000
"""Bytes that a full file may still get: 0.3 s at the encoder's rate, one frame of a whole second
of it, and the words about the file. Of a small cap a quarter must do."""

INDEX_ENTRY = 40
"""Bytes that the index at the end of a file takes for one frame, rounded up generously."""

INDEX_HEAD = 65_536
"""Bytes of a file that do not depend on the number of frames."""


class SizeBudget:
    """Watches one file grow."""

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
        """Whether the file must end now."""
        return self._spent >= self._cap - self._reserve

    def spent(self, size: int, frames: int) -> None:
        """The file is ``size`` bytes long now and holds ``frames``."""
        self._spent = size + frames * INDEX_ENTRY + INDEX_HEAD
        while self._spent >= self._until and self._level < len(QUALITY_LEVELS) - 1:
            self._level += 1
            self._until = (self._until + self._cap) / 2


def shared_level(levels: list[int]) -> int:
    """The rung of an encoder that several recordings share: the best that any of them needs.

    Quality falls only when all agree; who cannot wait gets a new part.
    """
    return min(levels, default=0)
