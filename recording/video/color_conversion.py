"""Conversion of frames from BGRX to YUV 4:2:0, limited to the tiles that changed.

The conversion of a whole frame takes a quarter of the time of its encoding, and most changes are
small. The converter keeps one converted frame and replaces only horizontal tiles of it. The result
equals the conversion of the whole frame bit by bit: a tile is converted together with the
neighbouring rows that the chroma filter reads.
"""

import numpy as np
from av.video.frame import VideoFrame
from av.video.plane import VideoPlane
from av.video.reformatter import ColorRange, Colorspace, VideoReformatter
from numpy.typing import NDArray

from deskhand.recording.ports import Overlay, Rectangle

TILE = 64
"""Rows of one tile; even, because two rows share their chroma samples."""

MARGIN = 8
"""Rows above and below a tile that the chroma filter reads."""

MOST_TILES = 0.5
"""Share of the frame above which the conversion of the whole frame is faster."""


class ColorConverter:
    """Converts the frames of one screen; all of them must have the same, even size."""

    def __init__(self, *, blurred: bool = False) -> None:
        self._blurred = blurred
        self._picture: VideoFrame | None = None
        # A reformatter prepares tables and threads for one pair of sizes, so each has its own.
        self._whole, self._part, self._halver = (VideoReformatter() for _ in range(3))

    @property
    def picture(self) -> VideoFrame | None:
        """The frame that was converted last; None before the first."""
        return self._picture

    def draw(
        self,
        pixels: NDArray[np.uint8],
        changed: tuple[Rectangle, ...] | None = None,
        overlay: Overlay | None = None,
    ) -> VideoFrame:
        """Convert ``pixels`` below ``overlay``; outside of ``changed`` they equal the last frame.

        The converter updates and returns the same frame each time.
        """
        height = pixels.shape[0]
        stale = range(0, height, TILE) if changed is None else tiles(changed, height)
        # A blurred frame is scaled before its conversion, which patches do not repeat.
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
        """Convert one tile with the rows around it, and copy the tile into ``picture``."""
        height, width = pixels.shape[:2]
        rows = TILE + 2 * MARGIN
        # All parts have one size, so that the tables are prepared once.
        begin = min(max(top - MARGIN, 0), height - rows)
        seen = _covered(pixels[begin : begin + rows], begin, overlay)
        source = VideoFrame.from_numpy_buffer(seen, format="bgra")
        part = _yuv(self._part, source, width, rows, threads=1)
        for plane, (target, patch) in enumerate(zip(picture.planes, part.planes, strict=True)):
            # Plane 0 is luma; the two chroma planes have half the size.
            halved = 2 if plane else 1
            here = slice(top // halved, min(top + TILE, height) // halved)
            there = slice((top - begin) // halved, (min(top + TILE, height) - begin) // halved)
            across = width // halved
            _rows(target)[here, :across] = _rows(patch)[there, :across]


def tiles(changed: tuple[Rectangle, ...], height: int) -> list[int]:
    """Return the first rows of the tiles that must be converted again."""
    stale: set[int] = set()
    for _, top, _, bottom in changed:
        first = max(top - MARGIN, 0) // TILE * TILE
        stale.update(range(first, min(bottom + MARGIN, height), TILE))
    return sorted(stale)


def _covered(pixels: NDArray[np.uint8], begin: int, overlay: Overlay | None) -> NDArray[np.uint8]:
    """Return rows from ``begin`` on with the overlay on them; a copy only where it covers them."""
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
