"""PNG files assembled from bands of rows, so that only changed bands are compressed again.

All bands form one zlib stream in several IDAT chunks (PNG, third edition, section 11.2.3). Each
band is raw deflate data that ends at a byte boundary (a full flush, RFC 1951) and refers to nothing
before it, so a band can be replaced. The Adler-32 checksum of the stream is computed from those of
the bands (RFC 1950).
"""

import struct
import zlib
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deskhand.desktop.geometry import Size

_checksums: Any = zlib
with suppress(ImportError):
    from isal import isal_zlib

    _checksums = isal_zlib


_SIGNATURE = b"\x89PNG\r\n\x1a\n"
# Bit depth 8, colour type 2 (RGB), deflate, adaptive filters, no interlace.
_RGB8 = struct.pack(">BBBBB", 8, 2, 0, 0, 0)
_ZLIB_HEADER = b"\x78\x01"
# An empty final deflate block with fixed Huffman codes.
_LAST_BLOCK = b"\x03\x00"
_ADLER_MODULUS = 65521
# Filter types None and Up (section 9.2).
_NONE, _UP = 0, 2


class Band(NamedTuple):
    """Compressed rows: raw deflate that ends at a byte and refers to nothing before it."""

    chunk: bytes
    """IDAT chunk with length and CRC."""
    adler: int
    """Adler-32 checksum of the filtered rows."""
    length: int
    """Size of the filtered rows in bytes."""


def band(rows: NDArray[np.uint8], deflated: bytes, adler: int) -> Band:
    """Return the band of filtered ``rows`` that compress to ``deflated``."""
    return Band(_chunk(b"IDAT", deflated), adler, rows.size)


def plain_rows(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return rows of shape ``(height, width, 3)`` with filter None: the best for interfaces."""
    height, width, _ = pixels.shape
    rows = np.empty((height, 1 + 3 * width), np.uint8)
    rows[:, 0] = _NONE
    rows[:, 1:] = pixels.reshape(height, 3 * width)
    return rows


def up_rows(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the same rows with the Up filter: smaller for photographs.

    The first row has no filter, so that the band does not depend on the one above.
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
    """Return the file of an RGB picture from its bands, top to bottom."""
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
    """Return the Adler-32 checksum of two pieces in sequence, from the checksums of both."""
    # The low half is the sum of the bytes plus 1, the high half the sum of all low halves.
    low = (first & 0xFFFF) + (second & 0xFFFF) - 1
    high = (first >> 16) + (second >> 16) + second_length * ((first & 0xFFFF) - 1)
    return (high % _ADLER_MODULUS) << 16 | low % _ADLER_MODULUS


def _chunk(kind: bytes, data: bytes) -> bytes:
    crc = _checksums.crc32(data, _checksums.crc32(kind))
    return b"".join((struct.pack(">I", len(data)), kind, data, struct.pack(">I", crc)))
