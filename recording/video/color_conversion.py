"""Conversion of frames from BGRX to YUV 4:2:0, limited to the tiles that changed.

The conversion of a whole frame takes half the time of its encoding, and most changes are small. The
converter keeps one converted frame and replaces only tiles of it. The result equals the conversion
of the whole frame bit by bit: a tile is converted together with the neighbouring pixels that the
chroma filter reads.
"""

from itertools import product

import numpy as np
from av.video.frame import VideoFrame
from av.video.plane import VideoPlane
from av.video.reformatter import ColorRange, Colorspace, VideoReformatter
from numpy.typing import NDArray

from deskhand.recording.ports import Overlay, Rectangle

TILE = 64
"""Rows of one tile; even, because two rows share their chroma samples."""

TILE_WIDTH = 960
"""Columns of one tile, even for the same reason; narrower tiles cost more when a whole row changes.
"""

MARGIN = 8
"""Rows and columns around a tile that the chroma filter reads."""

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
        height, width = pixels.shape[:2]
        # A blurred frame is scaled before its conversion, which patches do not repeat.
        small = self._blurred or height < TILE + 2 * MARGIN
        if small:
            self._picture = self._converted(_covered(pixels, 0, 0, overlay))
            return self._picture
        stale = [] if changed is None else tiles(changed, width, height)
        most = MOST_TILES * width * height
        if self._picture is None or changed is None or len(stale) * TILE * TILE_WIDTH > most:
            self._picture = self._converted(pixels)
            stale = tiles((overlay.region,), width, height) if overlay is not None else []
        for left, top in stale:
            self._patch(self._picture, pixels, left, top, overlay)
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
        left: int,
        top: int,
        overlay: Overlay | None,
    ) -> None:
        """Convert one tile with the pixels around it, and copy the tile into ``picture``."""
        height, width = pixels.shape[:2]
        # All parts have one size, so that the tables are prepared once.
        rows, columns = TILE + 2 * MARGIN, min(TILE_WIDTH + 2 * MARGIN, width)
        y = min(max(top - MARGIN, 0), height - rows)
        x = min(max(left - MARGIN, 0), width - columns)
        seen = _covered(pixels[y : y + rows, x : x + columns], x, y, overlay)
        source = VideoFrame.from_numpy_buffer(np.ascontiguousarray(seen), format="bgra")
        part = _yuv(self._part, source, columns, rows, threads=1)
        bottom, right = min(top + TILE, height), min(left + TILE_WIDTH, width)
        for plane, (target, patch) in enumerate(zip(picture.planes, part.planes, strict=True)):
            # Plane 0 is luma; the two chroma planes have half the size.
            halved = 2 if plane else 1
            _rows(target)[top // halved : bottom // halved, left // halved : right // halved] = (
                _rows(patch)[
                    (top - y) // halved : (bottom - y) // halved,
                    (left - x) // halved : (right - x) // halved,
                ]
            )


def tiles(changed: tuple[Rectangle, ...], width: int, height: int) -> list[tuple[int, int]]:
    """Return the left columns and first rows of the tiles that must be converted again."""
    stale: set[tuple[int, int]] = set()
    for left, top, right, bottom in changed:
        columns = range(_begin(left, TILE_WIDTH), min(right + MARGIN, width), TILE_WIDTH)
        rows = range(_begin(top, TILE), min(bottom + MARGIN, height), TILE)
        stale.update(product(columns, rows))
    return sorted(stale)


def _begin(at: int, size: int) -> int:
    """Return the begin of the tile that reads what lies at ``at``."""
    return max(at - MARGIN, 0) // size * size


def _covered(
    pixels: NDArray[np.uint8], x: int, y: int, overlay: Overlay | None
) -> NDArray[np.uint8]:
    """Return a part that begins at (x, y) with the overlay on it; a copy only where it covers."""
    if overlay is None:
        return pixels
    left, top, right, bottom = overlay.region
    height, width = pixels.shape[:2]
    first, last = max(top, y), min(bottom, y + height)
    begin, end = max(left, x), min(right, x + width)
    if first >= last or begin >= end:
        return pixels
    seen = pixels.copy()
    seen[first - y : last - y, begin - x : end - x] = overlay.pixels[
        first - top : last - top, begin - left : end - left
    ]
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
