"""Type and size of a picture from its first bytes. Pure.

PNG (W3C, section 11.2.2), GIF (89a, section 18), JPEG (ITU T.81, annex B) and WebP (RFC 9649).
The pictures are of desktops, so that the reader does nothing but read numbers: no library decodes
them for it.
"""

from .request import Measured

_PNG = b"\x89PNG\r\n\x1a\n"
_FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
"""Second bytes of JPEG's markers that begin a frame."""
_WITHOUT_LENGTH = frozenset({0x01, *range(0xD0, 0xD8)})


def measure(data: bytes) -> Measured | None:
    """Return type and size of a picture; ``None`` for an unknown format."""
    if data.startswith(_PNG) and data[12:16] == b"IHDR":
        return _measured("image/png", _big(data[16:20]), _big(data[20:24]))
    if data[:6] in (b"GIF87a", b"GIF89a"):
        return _measured("image/gif", _little(data[6:8]), _little(data[8:10]))
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return _webp(data)
    if data[:2] == b"\xff\xd8":
        return _jpeg(data)
    return None


def _webp(data: bytes) -> Measured | None:
    match data[12:16]:
        case b"VP8 ":
            width, height = _little(data[26:28]), _little(data[28:30])
            return _measured("image/webp", width & 0x3FFF, height & 0x3FFF)
        case b"VP8L":
            bits = _little(data[21:25])
            return _measured("image/webp", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
        case b"VP8X":
            width, height = _little(data[24:27]) + 1, _little(data[27:30]) + 1
            return _measured("image/webp", width, height)
    return None


def _jpeg(data: bytes) -> Measured | None:
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker in _FRAMES:
            return _measured("image/jpeg", _big(data[at + 7 : at + 9]), _big(data[at + 5 : at + 7]))
        # A marker may follow padding of 0xFF.
        if marker == 0xFF:
            at += 1
        elif marker in _WITHOUT_LENGTH:
            at += 2
        else:
            at += 2 + _big(data[at + 2 : at + 4])
    return None


def _measured(media_type: str, width: int, height: int) -> Measured | None:
    return Measured(media_type, width, height) if width and height else None


def _big(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _little(data: bytes) -> int:
    return int.from_bytes(data, "little")
