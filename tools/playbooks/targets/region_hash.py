"""Difference hash of a part of the screen: equal for pictures that look alike. Pure.

The region is averaged to 9 x 8 grey cells; each of the 64 bits is 1 where a cell is brighter than
its right neighbour (N. Krawetz, "Kind of Like That", 2013).
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from deskhand.tools.playbooks.playbook import Box

COLUMNS, ROWS = 9, 8
MOST_DIFFERENT = 6
"""Bits that may differ between pictures that look alike."""


def region_hash(width: int, height: int, rgb: bytes, box: Box) -> str:
    """Return the hash of a box of a picture as 16 hexadecimal digits."""
    pixels = np.frombuffer(rgb, np.uint8).reshape(height, width, 3)
    left, top, right, bottom = box
    part = pixels[top:bottom, left:right].mean(axis=2)
    rows = _averaged(part, ROWS)
    cells = _averaged(rows.T, COLUMNS).T
    bits = (cells[:, :-1] > cells[:, 1:]).ravel()
    return f"{int(''.join('1' if bit else '0' for bit in bits), 2):016x}"


def scaled_box(box: Box, recorded: tuple[int, int], size: tuple[int, int]) -> Box:
    """Return a box of a screen of the size ``recorded`` on one of another size, not empty."""
    across, down = size[0] / recorded[0], size[1] / recorded[1]
    left = min(max(0, round(box[0] * across)), size[0] - 1)
    top = min(max(0, round(box[1] * down)), size[1] - 1)
    right = min(max(left + 1, round(box[2] * across)), size[0])
    bottom = min(max(top + 1, round(box[3] * down)), size[1])
    return left, top, right, bottom


def is_alike(one: str, other: str) -> bool:
    """Return True if two hashes are those of pictures that look alike."""
    return (int(one, 16) ^ int(other, 16)).bit_count() <= MOST_DIFFERENT


def _averaged(values: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Return the means of ``count`` equal parts of the rows."""
    edges = np.linspace(0, len(values), count + 1)
    parts = [
        values[int(start) : max(int(start) + 1, int(end))].mean(axis=0)
        for start, end in pairwise(edges)
    ]
    return np.array(parts)
