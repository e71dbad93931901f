"""Choice of the frame that becomes the thumbnail of a recording.

The first frame is often an empty desktop, and the last one a closed window. So frames compete by
their amount of detail, with a small bonus for later ones.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

WIDTH = 640
"""Width of the thumbnail in pixels."""

GRID = 12
"""Distance of the sampled pixels: 14,400 samples on a screen of 1920 x 1080."""

EDGE = 24
"""Difference of brightness that counts as something drawn."""

LATER_IS_BETTER = 0.8
"""A later frame replaces one whose score is at most 1 / 0.8 of its own."""

SCORE_EVERY = 1.0
"""Seconds between two scored frames."""


def detail_score(pixels: NDArray[np.uint8]) -> float:
    """Return the share of samples with an edge: 0 for a plain surface."""
    # The green channel approximates luma: its weight is 0.72 of it (ITU-R BT.709).
    light = pixels[::GRID, ::GRID, 1].astype(np.int16)
    across = np.abs(np.diff(light, axis=1)) > EDGE
    down = np.abs(np.diff(light, axis=0)) > EDGE
    return float((across.sum() + down.sum()) / max(1, across.size + down.size))


def fitted(width: int, height: int) -> tuple[int, int]:
    """Return the size of the thumbnail of a screen; it is never enlarged."""
    shown = min(WIDTH, width)
    return shown, max(1, round(height * shown / width))


@dataclass
class ThumbnailChoice:
    """Contest of the frames that may become the thumbnail. Times are seconds."""

    best: float = -1.0
    scored_at: float = float("-inf")

    def due(self, now: float) -> bool:
        """Return True if the next frame has to be scored."""
        return now - self.scored_at >= SCORE_EVERY

    def wins(self, score: float, now: float) -> bool:
        """Return True if the frame with this score replaces the current thumbnail."""
        self.scored_at = now
        if score < LATER_IS_BETTER * self.best:
            return False

        self.best = max(score, LATER_IS_BETTER * self.best)
        return True
