"""Which frame of a recording tells most of it.

The first frame is often an empty desktop, and the last one a closed window, so frames compete:
by how much there is to see on them, and a little by how late they come.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

WIDTH = 640
"""Of the picture that is kept, in pixels."""

GRID = 12
"""Every so manieth pixel is looked at: 14,400 of a screen of 1920 x 1080."""

EDGE = 24
"""Difference of brightness that counts as something drawn."""

LATER_IS_BETTER = 0.8
"""A newcomer replaces a picture that tells at most 1 / 0.8 of what it tells itself."""

SCORE_EVERY = 1.0
"""Seconds between two looks."""


def detail_score(pixels: NDArray[np.uint8]) -> float:
    """How much there is to see: the share of places with an edge, 0 for a plain surface."""
    light = pixels[::GRID, ::GRID, 1].astype(np.int16)
    across = np.abs(np.diff(light, axis=1)) > EDGE
    down = np.abs(np.diff(light, axis=0)) > EDGE
    return float((across.sum() + down.sum()) / max(1, across.size + down.size))


def fitted(width: int, height: int) -> tuple[int, int]:
    """The size of the thumbnail of a screen; never enlarged."""
    shown = min(WIDTH, width)
    return shown, max(1, round(height * shown / width))


@dataclass
class ThumbnailChoice:
    """Finds the most telling of the frames that are offered. Times are seconds."""

    best: float = -1.0
    scored_at: float = float("-inf")

    def due(self, now: float) -> bool:
        """Whether it is time to look at a frame again."""
        return now - self.scored_at >= SCORE_EVERY

    def wins(self, score: float, now: float) -> bool:
        """Whether the frame of this score is the one to keep from now on."""
        self.scored_at = now
        if score < LATER_IS_BETTER * self.best:
            return False
        self.best = max(score, LATER_IS_BETTER * self.best)
        return True
