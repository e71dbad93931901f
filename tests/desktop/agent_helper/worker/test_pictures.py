from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from deskhand.desktop.agent_helper.worker.pictures import LARGEST, filling
from deskhand.desktop.files.errors import BadPath, FileError

PATH = Path("/picture")
RED, BLUE = bytes((0, 0, 255)), bytes((255, 0, 0))
"""In the order of the pixels."""


def encoded(picture: Image.Image, kind: str = "PNG") -> BytesIO:
    file = BytesIO()
    picture.save(file, kind)
    return file


def test_the_middle_of_a_picture_fills_the_screen() -> None:
    picture = Image.new("RGB", (300, 10), (0, 0, 255))
    picture.paste((255, 0, 0), (140, 0, 160, 10))
    pixels = filling(encoded(picture), (8, 8), PATH)
    assert {pixels[start : start + 3] for start in range(0, len(pixels), 4)} == {RED}
    assert len(pixels) == 8 * 8 * 4


@pytest.mark.parametrize("kind", ["PNG", "GIF", "BMP", "WEBP"])
def test_pictures_of_these_formats_are_decoded(kind: str) -> None:
    picture = Image.new("RGB", (4, 4), (0, 0, 255))
    quality = {"lossless": True} if kind == "WEBP" else {}
    file = BytesIO()
    picture.save(file, kind, **quality)
    assert filling(file, (2, 2), PATH)[:3] == BLUE


def test_no_picture_and_one_that_is_too_large_are_refused() -> None:
    for content in (b"", b"text", encoded(Image.effect_noise((64, 64), 9)).getvalue()[:900]):
        with pytest.raises(BadPath, match="is no picture"):
            filling(BytesIO(content), (2, 2), PATH)
    large = encoded(Image.new("1", (LARGEST // 1000 + 1, 1000)))
    with pytest.raises(FileError, match="too many pixels"):
        filling(large, (2, 2), PATH)
