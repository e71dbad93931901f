"""Choice of the frame that becomes the thumbnail of a recording.

The most informative frame is the last settled one before the agent's report. But the first frame
is often an empty desktop, and the last one a closed window or a blank page. So frames compete by
their amount of detail: a later frame wins unless it has much less of it, and a blank one never wins
against one with detail. Placeholder frames do not compete.
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

LATER_IS_BETTER = 0.5
"""A later frame replaces one whose score is at most twice its own."""

BLANK = 0.002
"""Score of a blank page: the frame of its window, and nothing in it."""

PLAIN = 12
"""Difference of brightness within a plain surface; a video shows none without any."""

SCORE_EVERY = 1.0
"""Seconds between two scored frames."""


def detail_score(pixels: NDArray[np.uint8]) -> float:
    """Return the share of samples with an edge: 0 for a plain surface."""
    # The green channel approximates luma: its weight is 0.72 of it (ITU-R BT.709).
    light = pixels[::GRID, ::GRID, 1].astype(np.int16)
    across = np.abs(np.diff(light, axis=1)) > EDGE
    down = np.abs(np.diff(light, axis=0)) > EDGE
    return float((across.sum() + down.sum()) / max(1, across.size + down.size))


def is_bare(pixels: NDArray[np.uint8]) -> bool:
    """Return True if the upper and the lower third of a frame are one plain surface.

    So are placeholder frames and blank screens. A video does not mark which frames are
    placeholders, and after a crash it is all that is left.
    """
    light = pixels[::GRID, ::GRID, 1]
    third = len(light) // 3
    around = np.concatenate((light[:third], light[len(light) - third :]))
    return bool(around.size == 0 or int(around.max()) - int(around.min()) <= PLAIN)


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
        if score < LATER_IS_BETTER * self.best or score <= BLANK < self.best:
            return False

        # Compared with the best of all: many small steps down are no way to a bad frame.
        self.best = max(score, self.best)
        return True
