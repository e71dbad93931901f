"""PNG files of patches: what is written, read and refused."""

import io
import struct
import zlib

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from deskhand.desktop.targets.patch_png import LARGEST_FILE, patch_png, read_patch
from deskhand.desktop.targets.patch_search import PixelPatch

RANDOM = np.random.default_rng(3)
PICTURE = RANDOM.integers(0, 256, (9, 13, 3), np.uint8)


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def file(head: bytes, rows: bytes) -> bytes:
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def head(width: int = 2, height: int = 1, *rest: int) -> bytes:
    return struct.pack(">IIBBBBB", width, height, *(rest or (8, 2, 0, 0, 0)))


def test_a_picture_survives() -> None:
    assert (read_patch(patch_png(PixelPatch(PICTURE))).pixels == PICTURE).all()


def test_other_programs_read_the_file() -> None:
    assert (np.asarray(Image.open(io.BytesIO(patch_png(PixelPatch(PICTURE))))) == PICTURE).all()


@pytest.mark.parametrize("mode", ["RGB", "RGBA"])
def test_files_of_other_programs_are_read(mode: str) -> None:
    smooth = np.add.outer(np.arange(60), np.arange(90)).astype(np.uint8)
    pixels = np.dstack([smooth, smooth * 3, RANDOM.integers(0, 9, smooth.shape, np.uint8)])
    written = io.BytesIO()
    Image.fromarray(pixels).convert(mode).save(written, "PNG", optimize=True)
    assert (read_patch(written.getvalue()).pixels == pixels).all()


@pytest.mark.parametrize("filter_type", range(5))
def test_each_filter(filter_type: int) -> None:
    pixels = RANDOM.integers(0, 256, (4, 5, 3), np.uint8)
    assert (read_patch(file(head(5, 4), filtered(pixels, filter_type))).pixels == pixels).all()


def filtered(pixels: NDArray[np.uint8], kind: int) -> bytes:
    """Filter rows as the specification defines it, section 9.2."""
    rows = pixels.reshape(len(pixels), -1).astype(int)
    out = b""
    for y, row in enumerate(rows):
        above = rows[y - 1] if y else np.zeros_like(row)
        left = np.concatenate([np.zeros(3, int), row[:-3]])
        corner = np.concatenate([np.zeros(3, int), above[:-3]])
        p = left + above - corner
        pa, pb, pc = abs(p - left), abs(p - above), abs(p - corner)
        paeth = np.where((pa <= pb) & (pa <= pc), left, np.where(pb <= pc, above, corner))
        guess = [0 * row, left, above, (left + above) // 2, paeth][kind]
        out += bytes([kind]) + ((row - guess) % 256).astype(np.uint8).tobytes()
    return out


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "PNG file"),
        (b"GIF89a", "PNG file"),
        (b"\x89PNG\r\n\x1a\n" + bytes(LARGEST_FILE), "400,000"),
        (b"\x89PNG\r\n\x1a\n", "no header"),
        (b"\x89PNG\r\n\x1a\n" + chunk(b"IDAT", b""), "no header"),
        (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", b"12"), "no header"),
        (file(head(0, 1), bytes(7)), "1 to 256"),
        (file(head(1, 0), bytes(7)), "1 to 256"),
        (file(head(257, 1), bytes(7)), "257x1"),
        (file(head(1, 257), bytes(7)), "1x257"),
        (file(head(2, 1, 16, 2, 0, 0, 0), bytes(7)), "8 bits"),
        (file(head(2, 1, 8, 3, 0, 0, 0), bytes(7)), "RGB"),
        (file(head(2, 1, 8, 2, 0, 0, 1), bytes(7)), "interlaced"),
        (file(head(), bytes(6)), "too few"),
        (file(head(), b"\x09" + bytes(6)), "unknown type 9"),
        (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head()) + chunk(b"IDAT", b"no zlib"), "damaged"),
    ],
)
def test_anything_else_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        read_patch(data)


def test_a_file_that_unpacks_to_more_is_read_to_the_size_of_the_picture() -> None:
    assert read_patch(file(head(), bytes(5_000_000))).pixels.shape == (1, 2, 3)


def test_ignored_pixels_are_transparent_and_have_no_colour() -> None:
    ignored = np.zeros((9, 13), bool)
    ignored[2:5, 3:7] = True
    data = patch_png(PixelPatch(PICTURE, ignored))
    again = read_patch(data)
    assert again.ignored is not None
    assert (again.ignored == ignored).all()
    assert (again.pixels[~ignored] == PICTURE[~ignored]).all()
    assert not again.pixels[ignored].any()
