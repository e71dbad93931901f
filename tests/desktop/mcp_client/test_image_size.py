"""Sizes in headers of pictures."""

import io

import pytest
from PIL import Image

from deskhand.desktop.geometry import Size
from deskhand.desktop.mcp_client.image_size import image_size

SIZE = Size(301, 203)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("PNG", {}),
        ("JPEG", {}),
        ("JPEG", {"progressive": True}),
        ("WEBP", {}),
        ("WEBP", {"lossless": True}),
        ("WEBP", {"exif": b"Exif\0\0MM\0*\0\0\0\x08\0\0"}),
    ],
)
def test_the_header_has_the_size(kind: str, options: dict[str, object]) -> None:
    written = io.BytesIO()
    Image.new("RGB", SIZE, "green").save(written, kind, **options)
    assert image_size(written.getvalue()) == SIZE


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"GIF89a",
        b"\x89PNG\r\n\x1a\n",
        b"\x89PNG\r\n\x1a\n" + bytes(16),
        b"\xff\xd8",
        b"\xff\xd8\xff\xc4" + bytes(20),
        b"RIFF",
        b"RIFF\0\0\0\0WEBPVP9X" + bytes(20),
    ],
)
def test_broken_headers_have_none(data: bytes) -> None:
    assert image_size(data) is None
