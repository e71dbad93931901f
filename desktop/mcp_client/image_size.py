"""Size of a picture, read from its header: PNG, JPEG and WebP. Pure.

A picture of a foreign server is not decoded in the service: only its header is read.
"""

from deskhand.desktop.geometry import Size

_PNG = b"\x89PNG\r\n\x1a\n"
_NO_SIZE = frozenset({0xC4, 0xC8, 0xCC})
"""JPEG markers in the range of the frame headers that are none (ITU-T T.81, table B.1)."""


def image_size(data: bytes) -> Size | None:
    """Return the size that the header states; None for other formats and broken headers."""
    if data.startswith(_PNG) and len(data) >= 24:
        return _size(int.from_bytes(data[16:20]), int.from_bytes(data[20:24]))
    if data.startswith(b"\xff\xd8"):
        return _of_jpeg(data)
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP" and len(data) >= 30:
        return _of_webp(data)
    return None


def _of_jpeg(data: bytes) -> Size | None:
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in _NO_SIZE:
            height = int.from_bytes(data[at + 5 : at + 7])
            return _size(int.from_bytes(data[at + 7 : at + 9]), height)
        at += 2 + int.from_bytes(data[at + 2 : at + 4])
    return None


def _of_webp(data: bytes) -> Size | None:
    # https://developers.google.com/speed/webp/docs/riff_container
    kind = data[12:16]
    if kind == b"VP8X":
        width, height = data[24:27], data[27:30]
        return _size(int.from_bytes(width, "little") + 1, int.from_bytes(height, "little") + 1)
    if kind == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return _size((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    if kind == b"VP8 ":
        width, height = data[26:28], data[28:30]
        low = 0x3FFF
        return _size(int.from_bytes(width, "little") & low, int.from_bytes(height, "little") & low)
    return None


def _size(width: int, height: int) -> Size | None:
    return Size(width, height) if width and height else None
