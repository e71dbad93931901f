"""The picture that the encoder sees: converted to its colours only where the screen changed.

Converting a whole screen takes a quarter of the time of coding it, and most changes are small.
"""

import numpy as np
from av.video.frame import VideoFrame
from av.video.plane import VideoPlane
from av.video.reformatter import ColorRange, Colorspace, VideoReformatter
from numpy.typing import NDArray

from deskhand.recording.ports import Overlay, Rectangle

TILE = 64
"""Rows that are converted together; even, for two rows share their colours."""

MARGIN = 8
"""Rows beside a tile that its colours are mixed with."""

MOST_TILES = 0.5
"""Above this share of the screen, all of it at once is quicker."""


class ColorConverter:
    """Keeps one picture up to date. All pictures given have the same, even size."""

    def __init__(self, *, blurred: bool = False) -> None:
        self._blurred = blurred
        self._picture: VideoFrame | None = None
        # Kept, for each new one prepares its tables and threads again.
        self._whole, self._part, self._halver = (VideoReformatter() for _ in range(3))

    @property
    def picture(self) -> VideoFrame | None:
        """What was drawn last."""
        return self._picture

    def draw(
        self,
        pixels: NDArray[np.uint8],
        changed: tuple[Rectangle, ...] | None = None,
        overlay: Overlay | None = None,
    ) -> VideoFrame:
        """The picture of ``pixels`` under ``overlay``; outside of ``changed`` as the last time.

        The same picture is changed and returned again and again.
        """
        height = pixels.shape[0]
        stale = range(0, height, TILE) if changed is None else tiles(changed, height)
        small = self._blurred or height < TILE + 2 * MARGIN
        if small:
            self._picture = self._converted(_covered(pixels, 0, overlay))
            return self._picture
        if self._picture is None or len(stale) * TILE > MOST_TILES * height:
            self._picture = self._converted(pixels)
            stale = tiles((overlay.region,), height) if overlay is not None else []
        for top in stale:
            self._patch(self._picture, pixels, top, overlay)
        return self._picture

    def _converted(self, pixels: NDArray[np.uint8]) -> VideoFrame:
        source = VideoFrame.from_numpy_buffer(pixels, format="bgra")
        height, width = pixels.shape[:2]
        if self._blurred:
            source = self._halver.reformat(source, width // 2, height // 2)
        return _yuv(self._whole, source, width, height, threads=0)

    def _patch(
        self,
        picture: VideoFrame,
        pixels: NDArray[np.uint8],
        top: int,
        overlay: Overlay | None,
    ) -> None:
        """Convert one tile with the rows beside it, and keep the tile."""
        height, width = pixels.shape[:2]
        rows = TILE + 2 * MARGIN
        # Of one size everywhere, so that the tables are prepared once.
        begin = min(max(top - MARGIN, 0), height - rows)
        seen = _covered(pixels[begin : begin + rows], begin, overlay)
        source = VideoFrame.from_numpy_buffer(seen, format="bgra")
        part = _yuv(self._part, source, width, rows, threads=1)
        for plane, (target, patch) in enumerate(zip(picture.planes, part.planes, strict=True)):
            halved = 2 if plane else 1
            here = slice(top // halved, min(top + TILE, height) // halved)
            there = slice((top - begin) // halved, (min(top + TILE, height) - begin) // halved)
            across = width // halved
            _rows(target)[here, :across] = _rows(patch)[there, :across]


def tiles(changed: tuple[Rectangle, ...], height: int) -> list[int]:
    """The first rows of the tiles that must be converted again."""
    stale: set[int] = set()
    for _, top, _, bottom in changed:
        first = max(top - MARGIN, 0) // TILE * TILE
        stale.update(range(first, min(bottom + MARGIN, height), TILE))
    return sorted(stale)


def _covered(pixels: NDArray[np.uint8], begin: int, overlay: Overlay | None) -> NDArray[np.uint8]:
    """Rows of a screen from ``begin`` on as they are seen; a copy only where something covers."""
    if overlay is None:
        return pixels
    left, top, right, bottom = overlay.region
    first, last = max(top, begin), min(bottom, begin + len(pixels))
    if first >= last or left >= right:
        return pixels
    seen = pixels.copy()
    seen[first - begin : last - begin, left:right] = overlay.pixels[first - top : last - top]
    return seen


def _yuv(
    converter: VideoReformatter, source: VideoFrame, width: int, height: int, threads: int
) -> VideoFrame:
    return converter.reformat(
        source,
        width,
        height,
        format="yuv420p",
        dst_colorspace=Colorspace.ITU709,
        dst_color_range=ColorRange.MPEG,
        threads=threads,
    )


def _rows(plane: VideoPlane) -> NDArray[np.uint8]:
    flat: NDArray[np.uint8] = np.frombuffer(memoryview(plane), np.uint8)
    return flat.reshape(-1, plane.line_size)
