"""Film strip of a run video: which moments its tiles show. Pure."""

from typing import Any

from .playlist import ClipPiece, RunVideo

TILE = (160, 90)
"""Width and height of a tile in pixels."""

COLUMNS = 10
"""Tiles beside each other; further ones are in rows below."""

FEWEST, MOST = 8, 60
"""Numbers of tiles; the longest strip on a wide screen shows fewer than forty at once."""

EXACT_SECONDS = 60.0
"""Length up to which each tile shows exactly its moment: decoding all frames takes some seconds."""


def tiles(found: RunVideo) -> int:
    """Return the number of tiles: one for each second, within bounds."""
    return max(FEWEST, min(MOST, round(found.seconds)))


def is_exact(found: RunVideo) -> bool:
    """Return True if all frames are decoded, False if only keyframes are."""
    return found.seconds <= EXACT_SECONDS


def moments(found: RunVideo) -> list[ClipPiece]:
    """Return the middles of equal spans of the video.

    Raises:
        NoSuchVideoMoment: If the video is empty.
    """
    count = tiles(found)
    return [found.moment((index + 0.5) * found.seconds / count) for index in range(count)]


def described(found: RunVideo, address: str) -> dict[str, Any]:
    """Return the film strip as pages need it, for JSON."""
    width, height = TILE
    return {
        "url": f"{address}/filmstrip",
        "tiles": tiles(found),
        "columns": min(COLUMNS, tiles(found)),
        "width": width,
        "height": height,
    }
