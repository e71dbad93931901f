"""PNG files of patches, written and read. Pure.

A patch may have been cut on another desktop and edited since, so its bytes are not trusted. The
reader accepts the simplest form of PNG only, which it parses itself (PNG, third edition, sections 5
and 9): 8 bits a channel, RGB with or without alpha, not interlaced, and at most `LARGEST` pixels
each way. Everything else is refused with the reason. Transparent pixels are those that a search
ignores.
"""

import struct
import zlib
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .patch_search import LARGEST, PixelPatch

LARGEST_FILE = 400_000
"""Bytes of a file that is read."""
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {2: 3, 6: 4}
"""Channels of the colour types RGB and RGBA."""


def patch_png(patch: PixelPatch) -> bytes:
    """Return the file of a patch; the pixels that are ignored are transparent and black."""
    height, width = patch.pixels.shape[:2]
    channels = 3 if patch.ignored is None else 4
    rows = np.zeros((height, 1 + channels * width), np.uint8)
    pixels = rows[:, 1:].reshape(height, width, channels)
    pixels[..., :3] = patch.pixels
    if patch.ignored is not None:
        pixels[..., 3] = 255
        pixels[patch.ignored] = 0
    rows[:, 1:] = pixels.reshape(height, channels * width)
    kind_of_colour = 2 if patch.ignored is None else 6
    head = struct.pack(">IIBBBBB", width, height, 8, kind_of_colour, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b""))
    return _SIGNATURE + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


def read_patch(data: bytes) -> PixelPatch:
    """Return the patch of a file.

    Raises:
        ValueError: If it is no PNG of the form that is read, or too large.
    """
    if len(data) > LARGEST_FILE or not data.startswith(_SIGNATURE):
        raise ValueError("a patch is a PNG file of at most 400,000 bytes")
    chunks = list(_chunks(data))
    if not chunks or chunks[0][0] != b"IHDR" or len(chunks[0][1]) != 13:
        raise ValueError("this PNG has no header")
    width, height, depth, colours, *rest = struct.unpack(">IIBBBBB", chunks[0][1])
    if not (1 <= width <= LARGEST and 1 <= height <= LARGEST):
        raise ValueError(f"a patch has 1 to {LARGEST} pixels each way, not {width}x{height}")
    if depth != 8 or colours not in _CHANNELS or any(rest):
        raise ValueError("a patch has 8 bits a channel, RGB or RGBA, and is not interlaced")
    channels = _CHANNELS[colours]
    size = height * (1 + channels * width)
    packed = b"".join(body for kind, body in chunks if kind == b"IDAT")
    try:
        # Stops at the size of the picture: a small file can unpack to any size.
        unpacked = zlib.decompressobj().decompress(packed, size)
    except zlib.error as error:
        raise ValueError(f"the pixels of this PNG are damaged: {error}") from error
    if len(unpacked) != size:
        raise ValueError("this PNG has too few pixels")
    rows = np.frombuffer(unpacked, np.uint8).reshape(height, 1 + channels * width)
    pixels = _unfiltered(rows, channels).reshape(height, width, channels)
    ignored = pixels[..., 3] == 0 if channels == 4 else None
    return PixelPatch(np.ascontiguousarray(pixels[..., :3]), ignored)


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(_SIGNATURE)
    while at + 12 <= len(data):
        (length,) = struct.unpack_from(">I", data, at)
        yield data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        at += 12 + length


def _unfiltered(rows: NDArray[np.uint8], channels: int) -> NDArray[np.uint8]:
    """Undo the filters of the rows (PNG, section 9.2)."""
    result = np.zeros((len(rows), rows.shape[1] - 1), np.uint8)
    above = [0] * result.shape[1]
    for index, row in enumerate(rows.tolist()):
        kind, values = row[0], row[1:]
        for at, value in enumerate(values):
            left = values[at - channels] if at >= channels else 0
            corner = above[at - channels] if at >= channels else 0
            values[at] = (value + _predicted(kind, left, above[at], corner)) & 0xFF
        result[index] = above = values
    return result


def _predicted(kind: int, left: int, up: int, corner: int) -> int:
    match kind:
        case 0:
            return 0
        case 1:
            return left
        case 2:
            return up
        case 3:
            return (left + up) // 2
        case 4:
            # The Paeth predictor: the neighbour that is closest to left + up - corner.
            middle = left + up - corner
            return min((left, up, corner), key=lambda one: abs(middle - one))
        case _:
            raise ValueError(f"this PNG has a filter of the unknown type {kind}")
