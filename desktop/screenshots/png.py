"""PNG files put together from bands of rows, so that only changed bands need new bytes."""

import struct
import zlib
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deskhand.desktop.geometry import Size

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_RGB8 = struct.pack(">BBBBB", 8, 2, 0, 0, 0)
_ZLIB_HEADER = b"\x78\x01"
_LAST_BLOCK = b"\x03\x00"
_ADLER_MODULUS = 65521
_NONE, _UP = 0, 2


class Band(NamedTuple):
    """Some rows, compressed: raw deflate that ends on a byte and refers to nothing before it."""

    chunk: bytes
    """Ready for the file."""
    adler: int
    """Checksum of the filtered rows."""
    length: int
    """Bytes of the filtered rows."""


def band(rows: NDArray[np.uint8], deflated: bytes, adler: int) -> Band:
    """The band of filtered ``rows``, with their checksum, that compress to ``deflated``."""
    return Band(_chunk(b"IDAT", deflated), adler, rows.size)


def plain_rows(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Rows of shape ``(height, width, 3)`` without a filter: the best for what programs draw."""
    height, width, _ = pixels.shape
    rows = np.empty((height, 1 + 3 * width), np.uint8)
    rows[:, 0] = _NONE
    rows[:, 1:] = pixels.reshape(height, 3 * width)
    return rows


def up_rows(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The same rows as differences from the row above: smaller for photographs.

    The first row has no filter, so that the band needs no other.
    """
    height, width, _ = pixels.shape
    flat = pixels.reshape(height, 3 * width)
    rows = np.empty((height, 1 + 3 * width), np.uint8)
    rows[0, 0] = _NONE
    rows[1:, 0] = _UP
    rows[0, 1:] = flat[0]
    np.subtract(flat[1:], flat[:-1], out=rows[1:, 1:])
    return rows


def assemble(size: Size, bands: Iterable[Band]) -> bytes:
    """The file of an RGB picture from its bands, top to bottom."""
    parts = [
        _SIGNATURE,
        _chunk(b"IHDR", struct.pack(">II", *size) + _RGB8),
        _chunk(b"IDAT", _ZLIB_HEADER),
    ]
    adler = 1
    for piece in bands:
        parts.append(piece.chunk)
        adler = joined_adler(adler, piece.adler, piece.length)
    parts.append(_chunk(b"IDAT", _LAST_BLOCK + struct.pack(">I", adler)))
    parts.append(_chunk(b"IEND", b""))
    return b"".join(parts)


def joined_adler(first: int, second: int, second_length: int) -> int:
    """Checksum of two pieces after each other, from the checksums of both."""
    low = (first & 0xFFFF) + (second & 0xFFFF) - 1
    high = (first >> 16) + (second >> 16) + second_length * ((first & 0xFFFF) - 1)
    return (high % _ADLER_MODULUS) << 16 | low % _ADLER_MODULUS


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
