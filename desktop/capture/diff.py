"""Difference of two frames, limited to the damaged regions."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deskhand.desktop.geometry import Region, Size, whole

from .frames import Frame
from .settle import around, joined

# Regions of one result; further ones are joined to one, so that the result stays short.
MOST_REGIONS = 16


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
