"""Immutable snapshots of the screen, made by copying only the changed rows.

Each capture reads the damaged rows, compares them with the newest snapshot band by band, and copies
only bands that differ. Spare buffers of old snapshots are used again, so a new snapshot needs
neither an allocation nor a copy of the whole screen.
"""

import weakref
from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from deskhand.desktop.geometry import Region, Size

from .frames import Frame

BAND_ROWS = 24
"""Rows of a band, the unit in which changes are detected, copied and tracked."""

# Every eighth row is compared first: most bands that differ differ there.
_PROBED_ROWS = 8
# Further unused buffers are freed; a buffer of 1920 x 1080 pixels has 8 MB.
_SPARE_BUFFERS = 3
_MOST_REGIONS = 32


class Snapshots:
    """Newest pixels of the screen, and spare buffers for the next snapshots.

    An array that was returned never changes. Its buffer becomes a spare one when the last view of
    it is garbage-collected; a snapshot in a spare buffer copies only the bands that changed since.
    """

    def __init__(self, size: Size, counter: int = 0) -> None:
        self._size = size
        self._spare = _no_buffers()
        bands = -(-size.height // BAND_ROWS)
        self._changed_at = np.zeros(bands, np.int64)
        self.counter = counter
        """Number of changes so far."""
        self.pixels = np.zeros((0, 0, 4), np.uint8)
        """Of the newest snapshot; no rows before `restore` and after `release`."""

    @property
    def changed_at(self) -> NDArray[np.int64]:
        """Copy of the counters at which each band last changed; read-only."""
        now = self._changed_at.copy()
        now.flags.writeable = False
        return now

    def rows(self, damage: Sequence[Region]) -> tuple[tuple[int, int], ...]:
        """Return the runs of rows, in whole bands, that must be captured after ``damage``."""
        return self._runs(self._touched(damage))

    def update(self, source: NDArray[np.uint8], damage: Sequence[Region]) -> tuple[Region, ...]:
        """Copy the damaged rows of ``source`` that differ; return the changed regions.

        The result is empty, and ``counter`` unchanged, if the same pixels were painted again. Only
        the rows returned by ``rows`` have to be valid in ``source``.
        """
        old, new = wide_rows(self.pixels), wide_rows(source)
        changed = np.zeros_like(self._changed_at, bool)
        for band in np.flatnonzero(self._touched(damage)):
            part = slice(band * BAND_ROWS, (band + 1) * BAND_ROWS)
            changed[band] = not same(old[part], new[part])
        if not changed.any():
            return ()
        raw, valid_at = self._spare.pop() if self._spare else self._fresh()
        target = self._new(raw)
        # A spare buffer is valid up to the counter of its snapshot: first the bands that changed
        # since then, from the newest snapshot, then the new ones.
        for top, bottom in self._runs((self._changed_at > valid_at) & ~changed):
            target[top:bottom] = self.pixels[top:bottom]
        for top, bottom in self._runs(changed):
            target[top:bottom] = source[top:bottom]
        self.counter += 1
        self._changed_at[changed] = self.counter
        self._freeze(target, raw)
        self.pixels = target
        return self._clip(damage, self._runs(changed))

    def release(self) -> None:
        """Free all buffers; before the next update `restore` has to get the same pixels."""
        self.pixels = np.zeros((0, 0, 4), np.uint8)
        # Another one, to which buffers that are still in use do not return.
        self._spare = _no_buffers()

    def restore(self, source: NDArray[np.uint8]) -> None:
        """Take the pixels of the first snapshot, or again those of the newest one."""
        raw, _ = self._fresh()
        self.pixels = self._new(raw)
        self.pixels[:] = source
        self._freeze(self.pixels, raw)

    def _fresh(self) -> tuple[bytearray, int]:
        return bytearray(self._size.width * self._size.height * 4), -1

    def _new(self, raw: bytearray) -> NDArray[np.uint8]:
        return np.frombuffer(raw, np.uint8).reshape(self._size.height, self._size.width, 4)

    def _freeze(self, pixels: NDArray[np.uint8], raw: bytearray) -> None:
        # Every view refers to this flat array, so it is finalized after the last view is gone.
        flat = pixels.base
        assert isinstance(flat, np.ndarray)  # noqa: S101 - how frombuffer and reshape work
        pixels.flags.writeable = False
        flat.flags.writeable = False
        # deque.append is atomic: the finalizer may run in any thread.
        weakref.finalize(flat, self._spare.append, (raw, self.counter)).atexit = False

    def _touched(self, damage: Sequence[Region]) -> NDArray[np.bool_]:
        touched = np.zeros_like(self._changed_at, bool)
        for region in damage:
            if not region.is_empty:
                touched[max(0, region.top) // BAND_ROWS : -(-region.bottom // BAND_ROWS)] = True
        return touched

    def _runs(self, bands: NDArray[np.bool_]) -> tuple[tuple[int, int], ...]:
        edges = np.flatnonzero(np.diff(bands, prepend=False, append=False))
        return tuple(
            (int(start) * BAND_ROWS, min(int(end) * BAND_ROWS, self._size.height))
            for start, end in zip(edges[::2], edges[1::2], strict=True)
        )

    def _clip(
        self, damage: Sequence[Region], runs: Sequence[tuple[int, int]]
    ) -> tuple[Region, ...]:
        parts = (
            region.intersection(Region(0, top, self._size.width, bottom))
            for region in damage
            for top, bottom in runs
        )
        regions = tuple(part for part in parts if not part.is_empty)
        return merged(regions)


def _no_buffers() -> deque[tuple[bytearray, int]]:
    return deque(maxlen=_SPARE_BUFFERS)


def maybe_changed_rows(earlier: Frame, later: Frame) -> NDArray[np.bool_]:
    """Return one flag for each row: True if it may differ between two frames.

    All rows are flagged if the frames have no common history.
    """
    height = len(later.pixels)
    if later.pixels is earlier.pixels:
        return np.zeros(height, bool)
    known = earlier.changed_at is not None and earlier.instance == later.instance
    if later.changed_at is None or not known or earlier.counter > later.counter:
        return np.ones(height, bool)
    return np.repeat(later.changed_at > earlier.counter, BAND_ROWS)[:height]


def same(
    some: NDArray[np.uint64] | NDArray[np.uint32], others: NDArray[np.uint64] | NDArray[np.uint32]
) -> bool:
    """Return True if two bands are equal; a sample of rows finds most differences at once."""
    few = slice(None, None, _PROBED_ROWS)
    return np.array_equal(some[few], others[few]) and np.array_equal(some, others)


def wide_rows(pixels: NDArray[np.uint8]) -> NDArray[np.uint64] | NDArray[np.uint32]:
    """Return a view of the pixels as rows of 64-bit integers, which compare fastest.

    Rows whose size is not a multiple of 8 bytes are viewed as 32-bit integers.
    """
    rows = pixels.reshape(pixels.shape[0], -1)
    return rows.view(np.uint32) if rows.shape[1] % 8 else rows.view(np.uint64)


def merged(regions: Sequence[Region]) -> tuple[Region, ...]:
    """Return the regions that no other covers, or one bounding box if there are too many."""
    unique = tuple(dict.fromkeys(regions))
    if len(unique) <= _MOST_REGIONS:
        return tuple(
            region
            for region in unique
            if not any(other.covers(region) for other in unique if other != region)
        )
    return (
        Region(
            min(region.left for region in unique),
            min(region.top for region in unique),
            max(region.right for region in unique),
            max(region.bottom for region in unique),
        ),
    )
