"""Where two frames differ."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deskhand.desktop.geometry import Region, Size, whole

from .frames import Frame
from .settle import around, joined

MOST_REGIONS = 16


@dataclass(frozen=True)
class Changes:
    """What became of the screen; regions in native pixels."""

    fraction: float
    """Share of the pixels that differ, 0 to 1."""
    regions: tuple[Region, ...]


def changes(before: Frame, after: Frame, painted: Iterable[Region]) -> Changes:
    """Compare two frames where something was painted between them."""
    if before.counter == after.counter:
        return Changes(0.0, ())
    height, width = after.pixels.shape[:2]
    if before.pixels.shape != after.pixels.shape:
        return Changes(1.0, (whole(Size(width, height)),))
    old, new = (np.ascontiguousarray(f.pixels).view(np.uint32)[..., 0] for f in (before, after))
    count = 0
    found: list[Region] = []
    for region in _inside(painted, Size(width, height)):
        rows, columns = slice(region.top, region.bottom), slice(region.left, region.right)
        # The fourth byte of a pixel has no meaning and may hold anything.
        differs = ((old[rows, columns] ^ new[rows, columns]) & np.uint32(0x00FFFFFF)) != 0
        pixels = int(np.count_nonzero(differs))
        if pixels:
            count += pixels
            found.append(_box(differs, region))
    return Changes(count / (width * height), _few(found))


def _inside(painted: Iterable[Region], size: Size) -> Iterator[Region]:
    screen = whole(size)
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
