"""Difference of two frames in the damaged regions, and the distance of a scroll between them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deskhand.desktop.geometry import Point, Region, Size, whole

from .frames import Frame
from .settle import around, joined

# Regions of one result; further ones are joined to one, so that the result stays short.
MOST_REGIONS = 16
USUAL_SCROLL = 120
"""Pixels that Chromium scrolls for one notch of the wheel."""
# Bands of content to each side of the point, and the width of one in pixels.
_BANDS, _BAND = 3, 64
# Less is no notch, but what was left at the end of a page.
_LEAST_SCROLL, _MOST_SCROLL = 16, 600
_LEAST_FITS = 8
# The hash of a line of pixels is the sum of their products with the powers of an odd number.
_WEIGHTS = np.cumprod(np.full(_BAND, 0x9E3779B97F4A7C15, np.uint64))


@dataclass(frozen=True)
class Changes:
    """Difference of two frames; regions in native pixels."""

    fraction: float
    """Share of differing pixels, 0 to 1."""
    regions: tuple[Region, ...]


def changes(before: Frame, after: Frame, painted: Iterable[Region]) -> Changes:
    """Compare two frames in the regions that were damaged between them."""
    if before.counter == after.counter:
        return Changes(0.0, ())
    height, width = after.pixels.shape[:2]
    if before.pixels.shape != after.pixels.shape:
        return Changes(1.0, (whole(Size(width, height)),))
    # One 32-bit comparison for each pixel instead of four of bytes.
    old, new = (np.ascontiguousarray(f.pixels).view(np.uint32)[..., 0] for f in (before, after))
    count = 0
    found: list[Region] = []
    for region in _inside(painted, Size(width, height)):
        rows, columns = slice(region.top, region.bottom), slice(region.left, region.right)
        # The fourth byte of a pixel (X) is undefined in ZPixmap format at depth 24.
        differs = ((old[rows, columns] ^ new[rows, columns]) & np.uint32(0x00FFFFFF)) != 0
        pixels = int(np.count_nonzero(differs))
        if pixels:
            count += pixels
            found.append(_box(differs, region))
    return Changes(count / (width * height), _few(found))


def scrolled_by(before: Frame, after: Frame, at: Point, *, sideways: bool = False) -> int:
    """Return by how many pixels the content around a point has moved up, or left; 0 if unknown.

    ``sideways`` for left. A pattern that repeats itself fits several distances: the one nearest
    to `USUAL_SCROLL` counts.
    """
    old, new = (np.ascontiguousarray(f.pixels).view(np.uint32)[..., 0] for f in (before, after))
    if old.shape != new.shape:
        return 0
    x, y = at
    if sideways:
        old, new, x = old.T, new.T, y
    length = len(old)
    fits, possible = np.zeros(length, int), 0
    # Some of the bands may be beside of what is scrolled, or in a part of it that has no content.
    for band in range(-_BANDS, _BANDS):
        columns = slice(max(0, x + band * _BAND), max(0, x + (band + 1) * _BAND))
        first, last = (part[:, columns] & np.uint32(0x00FFFFFF) for part in (old, new))
        if not last.size:
            continue
        weights = _WEIGHTS[: last.shape[1]]
        source, target = ((part * weights).sum(axis=1) for part in (first, last))
        rows = np.flatnonzero((source != target) & (last != last[:, :1]).any(axis=1))
        possible += len(rows)
        for distance in range(_LEAST_SCROLL, min(length, _MOST_SCROLL)):
            from_ = rows + distance
            inside = from_ < length
            fits[distance] += np.count_nonzero(source[from_[inside]] == target[rows[inside]])
    # A few lines are alike by chance.
    fits[fits < max(_LEAST_FITS, possible // 4)] = 0
    distances = np.flatnonzero(fits)
    if not distances.size:
        return 0
    # The further the scroll, the fewer lines are seen before and after it.
    lines = fits[distances] / (2 * _BANDS) + distances
    distances = distances[lines >= lines.max() * 0.9]
    return int(distances[np.argmin(np.abs(distances - USUAL_SCROLL))])


def _inside(painted: Iterable[Region], size: Size) -> Iterator[Region]:
    screen = whole(size)
    # Regions are joined so that no pixel is counted twice.
    regions = (region.intersection(screen) for region in painted)
    return iter(joined(_few([region for region in regions if not region.is_empty], most=256)))


def _box(differs: NDArray[np.bool_], region: Region) -> Region:
    rows = np.flatnonzero(differs.any(axis=1))
    columns = np.flatnonzero(differs.any(axis=0))
    return Region(
        region.left + int(columns[0]),
        region.top + int(rows[0]),
        region.left + int(columns[-1]) + 1,
        region.top + int(rows[-1]) + 1,
    )


def _few(regions: list[Region], most: int = MOST_REGIONS) -> tuple[Region, ...]:
    kept = regions[: most - 1] if len(regions) > most else regions
    rest = regions[len(kept) :]
    if not rest:
        return tuple(kept)
    last = rest[0]
    for region in rest[1:]:
        last = around(last, region)
    return (*kept, last)
