"""Files with the pictures of targets: where the point is in one, and the search for it. Pure."""

import base64
import struct
from typing import Any

Json = dict[str, Any]

_HEADER = struct.Struct(">8s4x4sII")
_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def patch_search(
    patch: bytes,
    point: tuple[int, int] | None,
    recorded: tuple[int, int],
    shown: tuple[int, int],
) -> Json:
    """Return the body of ``POST /desktop/find-patch`` for a picture.

    ``point`` is that of the target on a screen of the size ``recorded``, around which the picture
    was cut; without it the middle of the picture is wanted. ``shown`` is the size of the screen.
    """
    body: Json = {"patch": base64.b64encode(patch).decode()}
    size = picture_size(patch)
    if point is not None and size is not None:
        body["point"] = [
            _offset(at, edge, whole) for at, edge, whole in zip(point, size, recorded, strict=True)
        ]
    scales = {round(new / old, 3) for new, old in zip(shown, recorded, strict=True)}
    if len(scales) == 1:
        scale = scales.pop()
        if 0.25 <= scale <= 4:
            body["scale"] = scale
    return body


def picture_size(patch: bytes) -> tuple[int, int] | None:
    """Return width and height of a PNG file; ``None`` if it is none."""
    if len(patch) < _HEADER.size:
        return None
    signature, kind, width, height = _HEADER.unpack_from(patch)
    return (width, height) if (signature, kind) == (_SIGNATURE, b"IHDR") else None


def _offset(at: int, edge: int, whole: int) -> int:
    """Return where a point is in a picture around it, which ends at the edges of the screen."""
    start = min(max(at - edge // 2, 0), max(whole - edge, 0))
    return min(max(at - start, 0), edge - 1)
