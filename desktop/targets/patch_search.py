"""Search of a patch, the pixels around a point, in a frame. Pure.

The search runs in the desktop service, where the exact pixels of the screen are. Anywhere else a
screenshot would have to be encoded, sent, and decoded in a process without rights for each search.
The patch is the only picture that enters the service, and `patch_png` reads it without a decoder
of pictures in C.

Two pictures agree as far as their edges do: pixels that differ from their left or upper neighbour,
in either of them. Areas of one colour say little, and would make all buttons look alike. A search
takes these steps:

1. Probes: some edge pixels of the patch whose colours are the rarest in the frame.
2. Places: all positions where most probes have their colour, found in a few passes over the frame.
3. Scores: the share of edge pixels that agree, computed at these places only.

A match is unique if every other place is clearly worse. A patch without structure, or one that
has too many places, is never unique.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deskhand.desktop.geometry import Point, Size

from .patch_matches import PatchMatch, PatchMatches

Picture = NDArray[np.uint8]
"""Shape ``(height, width, 3)``, byte order R, G, B."""

PATCH = Size(64, 40)
"""Size of a recorded patch, unless the screen is smaller."""
LARGEST = 256
"""Largest edge of a patch that is searched for."""
LEAST_SCORE = 0.98
"""Score of a match. One other letter in a row of equal buttons already costs some percent."""
_SIMILAR = 0.6
"""Least score of a place that is reported."""
_TOLERANCE = 24
"""Difference of a colour channel that the rendering of text causes."""
_CLEARLY_WORSE = 0.02
_PROBES = 8
_MISSING_PROBES = 2
_MOST_PLACES = 1_500
_MOST_MATCHES = 5
_LEAST_EDGES = 16


@dataclass(frozen=True)
class PixelPatch:
    """Pixels around a point."""

    pixels: Picture
    ignored: NDArray[np.bool_] | None = None
    """Shape ``(height, width)``: pixels that differ from run to run; ``None`` for none."""

    @property
    def edges(self) -> NDArray[np.bool_]:
        """Flags of the pixels that count."""
        found = _edges(self.pixels)
        return found if self.ignored is None else found & ~self.ignored


def cut(pixels: NDArray[np.uint8], point: Point, size: Size = PATCH) -> tuple[Picture, Point]:
    """Return a copy of the pixels around a point, and the position of the point in it.

    ``pixels`` are those of a frame, in the byte order B, G, R, X; the point lies in the frame.
    """
    height, width = pixels.shape[:2]
    left = min(max(point.x - size.width // 2, 0), max(width - size.width, 0))
    top = min(max(point.y - size.height // 2, 0), max(height - size.height, 0))
    part = pixels[top : top + size.height, left : left + size.width, 2::-1]
    return np.ascontiguousarray(part), Point(point.x - left, point.y - top)


def has_structure(patch: PixelPatch) -> bool:
    """Return True if there is enough in a patch to search for."""
    return int(patch.edges.sum()) >= _LEAST_EDGES


def find_patch(frame: Picture, patch: PixelPatch, point: Point) -> PatchMatches:
    """Return the places of a frame that look like a patch; ``point`` is a pixel of the patch."""
    height, width = patch.pixels.shape[:2]
    if height > frame.shape[0] or width > frame.shape[1] or not has_structure(patch):
        return PatchMatches((), False)
    places = _places(frame, patch.pixels, _probes(frame, patch))
    best: list[PatchMatch] = []
    scored = sorted(_scored(frame, patch, places[:_MOST_PLACES]), key=lambda one: -one[1])
    for place, score in scored:
        at = Point(place.x + point.x, place.y + point.y)
        # Positions a few pixels apart are the same place.
        if score >= _SIMILAR and all(
            abs(at.x - one.point.x) > width // 3 or abs(at.y - one.point.y) > height // 3
            for one in best
        ):
            best.append(PatchMatch(at, round(score, 4)))
    found = tuple(best[:_MOST_MATCHES])
    unique = (
        bool(found)
        and len(places) <= _MOST_PLACES
        and found[0].score >= LEAST_SCORE
        and all(found[0].score - one.score >= _CLEARLY_WORSE for one in found[1:])
    )
    return PatchMatches(found, unique)


def resized(patch: PixelPatch, point: Point, factor: float) -> tuple[PixelPatch, Point]:
    """Return a patch and its point at another scale; each pixel is the nearest of the old one."""
    old = patch.pixels
    height, width = (max(1, round(edge * factor)) for edge in old.shape[:2])
    rows, columns = (
        np.minimum((np.arange(new) + 0.5) / factor, edge - 1).astype(np.intp)
        for new, edge in zip((height, width), old.shape, strict=False)
    )
    ignored = None if patch.ignored is None else patch.ignored[rows][:, columns]
    moved = Point(min(int(point.x * factor), width - 1), min(int(point.y * factor), height - 1))
    return PixelPatch(np.ascontiguousarray(old[rows][:, columns]), ignored), moved


def _edges(picture: Picture) -> NDArray[np.bool_]:
    """Return a flag for each pixel: True if it differs from its left or upper neighbour."""
    wide = picture.astype(np.int16)
    found = np.zeros(picture.shape[:2], bool)
    found[:, 1:] |= (np.abs(wide[:, 1:] - wide[:, :-1]) > _TOLERANCE).any(axis=2)
    found[1:] |= (np.abs(wide[1:] - wide[:-1]) > _TOLERANCE).any(axis=2)
    return found


def _probes(frame: Picture, patch: PixelPatch) -> list[tuple[int, int]]:
    """Return the rows and columns of the edge pixels whose colours are rarest in the frame."""
    pixels, edges = patch.pixels, patch.edges
    colours = _colours(pixels)
    commonest = np.argmax(np.bincount(colours.ravel()))
    background = pixels[np.unravel_index(np.argmax(colours == commonest), colours.shape)]
    # On the outer side of an edge is the background, which is everywhere.
    ink = edges & (np.abs(pixels.astype(np.int16) - background) > 2 * _TOLERANCE).any(axis=2)
    rows, columns = np.nonzero(ink if ink.sum() >= _LEAST_EDGES else edges)
    counts = np.bincount(_colours(frame).ravel(), minlength=1 << 12)
    order = np.argsort(counts[colours[rows, columns]], kind="stable")
    # Neighbours would all depend on the same few pixels of the frame.
    spread = order[:: max(1, min(len(order) // _PROBES, 5))][:_PROBES]
    return [(int(rows[one]), int(columns[one])) for one in spread]


def _colours(picture: Picture) -> NDArray[np.intp]:
    """Return 12 bits of colour for each pixel."""
    red, green, blue = ((picture[..., one] >> 4).astype(np.intp) for one in range(3))
    return red << 8 | green << 4 | blue


def _places(
    frame: Picture, patch: Picture, probes: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return the upper left corners where most probes have their colour, in order."""
    down = frame.shape[0] - patch.shape[0] + 1
    across = frame.shape[1] - patch.shape[1] + 1
    planes = [np.ascontiguousarray(frame[..., channel]) for channel in range(3)]
    votes = np.zeros((down, across), np.uint8)
    for y, x in probes:
        agrees = np.ones((down, across), bool)
        for plane, wanted in zip(planes, patch[y, x].tolist(), strict=True):
            low = max(wanted - _TOLERANCE, 0)
            span = min(wanted + _TOLERANCE, 255) - low
            # Bytes below `low` become large ones by the subtraction.
            agrees &= plane[y : y + down, x : x + across] - np.uint8(low) <= span
        votes += agrees
    rows, columns = np.nonzero(votes >= len(probes) - _MISSING_PROBES)
    return list(zip(rows.tolist(), columns.tolist(), strict=True))


def _scored(
    frame: Picture, patch: PixelPatch, places: Sequence[tuple[int, int]]
) -> Iterator[tuple[Point, float]]:
    height, width = patch.pixels.shape[:2]
    wide, edges = patch.pixels.astype(np.int16), patch.edges
    counted = np.ones_like(edges) if patch.ignored is None else ~patch.ignored
    for y, x in places:
        part = frame[y : y + height, x : x + width]
        agrees = (np.abs(part.astype(np.int16) - wide) <= _TOLERANCE).all(axis=2)
        both = (edges | _edges(part)) & counted
        yield Point(x, y), float(agrees[both].mean())
