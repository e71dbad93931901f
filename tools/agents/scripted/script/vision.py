"""Finding patches of one colour in a picture. Pure.

A target of a few native pixels is two or three pixels in the picture that a model receives, and
scaling has mixed its edges with the surroundings. The point to return is therefore a pixel of
(nearly) pure colour, not the centre of the patch.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
"""RGB, of shape (height, width, 3)."""

DEFAULT_TOLERANCE = 16
"""Largest difference in one channel that still counts as the colour. The value is small, because
icons and the edges of letters have nearly any colour."""
LOOSER = 3
"""Factor by which :func:`find_nearest` extends the tolerance."""


@dataclass(frozen=True)
class Blob:
    """A patch of a colour: the pixel to point at, and how many pixels are of it."""

    x: int
    y: int
    pixels: int


def colour(text: str) -> tuple[int, int, int]:
    """Read ``#rrggbb``.

    Raises:
        ValueError: If the text has another form.
    """
    if len(text) != 7 or not text.startswith("#"):
        raise ValueError(f"{text!r} is not #rrggbb")
    red, green, blue = bytes.fromhex(text[1:])
    return red, green, blue


def find_blob(
    pixels: Pixels, wanted: tuple[int, int, int], tolerance: int = DEFAULT_TOLERANCE
) -> Blob | None:
    """Find the largest patch of ``wanted``; return ``None`` if no pixel is within ``tolerance``.

    The point is the purest pixel of the patch; of equally pure ones the nearest to its centroid.
    """
    away = _away(pixels, wanted)
    rows, columns = np.nonzero(away <= tolerance)
    if rows.size == 0:
        return None
    patch = max(_patches(rows, columns), key=len)
    ys, xs = rows[patch], columns[patch]
    impurity = away[ys, xs]
    distance = np.hypot(xs - xs.mean(), ys - ys.mean())
    # The last key of ``lexsort`` is the primary one.
    best = np.lexsort((distance, impurity))[0]
    return Blob(int(xs[best]), int(ys[best]), len(patch))


def find_nearest(
    pixels: Pixels, wanted: tuple[int, int, int], tolerance: int = DEFAULT_TOLERANCE
) -> Blob | None:
    """Find a patch as :func:`find_blob`; without one, find the pixel that is nearest in colour.

    The pixel serves for a target so thin that each of its pixels is a mixture. Return ``None`` if
    even the nearest differs too much.
    """
    blob = find_blob(pixels, wanted, tolerance)
    if blob is not None:
        return blob
    away = _away(pixels, wanted)
    y, x = np.unravel_index(int(away.argmin()), away.shape)
    return Blob(int(x), int(y), 1) if away[y, x] <= tolerance * LOOSER else None


def changed_fraction(before: Pixels, after: Pixels) -> float:
    """Return the share of the pixels that differ; 1.0 for pictures of different sizes."""
    if before.shape != after.shape:
        return 1.0
    return float(np.mean(np.any(before != after, axis=2)))


def _away(pixels: Pixels, wanted: tuple[int, int, int]) -> NDArray[np.int16]:
    """Return the largest difference in a channel for each pixel."""
    # In ``uint8`` a negative difference would wrap around to a large one.
    away: NDArray[np.int16] = np.abs(
        pixels.astype(np.int16) - np.array(wanted, dtype=np.int16)
    ).max(axis=2)
    return away


def _patches(rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Iterator[NDArray[np.intp]]:
    """Yield the indexes of the pixels of each patch: runs in a row that touch, also at corners."""
    parents: list[int] = []

    def root(run: int) -> int:
        while parents[run] != run:
            # Path halving (union-find): without it, long chains of runs make the search quadratic.
            parents[run] = parents[parents[run]]
            run = parents[run]
        return run

    breaks = np.nonzero((np.diff(rows) != 0) | (np.diff(columns) != 1))[0] + 1
    starts = np.concatenate(([0], breaks))
    ends = np.concatenate((breaks, [rows.size]))
    above: list[tuple[int, int, int]] = []
    current: list[tuple[int, int, int]] = []
    # No row follows -2, so that the first row has no runs above it.
    row = -2
    for run, (start, end) in enumerate(zip(starts, ends, strict=True)):
        parents.append(run)
        if rows[start] != row:
            above = current if rows[start] == row + 1 else []
            current, row = [], int(rows[start])
        first, last = int(columns[start]), int(columns[end - 1])
        for other, other_first, other_last in above:
            # With the 1, runs that touch at a corner belong together: a diagonal line is one patch.
            if other_first <= last + 1 and first <= other_last + 1:
                parents[root(other)] = root(run)
        current.append((run, first, last))
    roots = np.array([root(run) for run in range(len(parents))])
    owner = np.repeat(roots, ends - starts)
    for patch in np.unique(roots):
        yield np.nonzero(owner == patch)[0]
