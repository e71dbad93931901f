import io
import zlib

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image

from deskhand.desktop.geometry import Size
from deskhand.desktop.screenshots.png import Band, assemble, band, joined_adler, plain_rows, up_rows


def noise(height: int, width: int) -> NDArray[np.uint8]:
    return np.random.default_rng(7).integers(0, 256, (height, width, 3), np.uint8)


def deflated(rows: NDArray[np.uint8]) -> bytes:
    stream = zlib.compressobj(1, zlib.DEFLATED, -15)
    return stream.compress(rows.data) + stream.flush(zlib.Z_FULL_FLUSH)


def packed(rows: NDArray[np.uint8]) -> Band:
    return band(rows, deflated(rows), zlib.adler32(rows.data))


def decoded(data: bytes) -> NDArray[np.uint8]:
    return np.asarray(Image.open(io.BytesIO(data)))


def test_bands_of_both_filters_make_one_picture() -> None:
    pixels = noise(50, 31)
    bands = [packed(plain_rows(pixels[:20])), packed(up_rows(pixels[20:]))]
    assert np.array_equal(decoded(assemble(Size(31, 50), bands)), pixels)


def test_a_band_can_be_exchanged_for_another() -> None:
    pixels = noise(40, 16)
    bands = [packed(up_rows(pixels[top : top + 10])) for top in range(0, 40, 10)]
    pixels[10:20] = 9
    bands[1] = packed(up_rows(pixels[10:20]))
    assert np.array_equal(decoded(assemble(Size(16, 40), bands)), pixels)


def test_rows_that_are_not_contiguous_are_encoded_correctly() -> None:
    wide = noise(6, 40)
    part = wide[:, 5:15]
    for rows in (plain_rows(part), up_rows(part)):
        assert np.array_equal(decoded(assemble(Size(10, 6), [packed(rows)])), part)


@given(st.binary(max_size=3000), st.binary(max_size=3000))
def test_checksums_of_pieces_join_to_that_of_the_whole(first: bytes, second: bytes) -> None:
    joined = joined_adler(zlib.adler32(first), zlib.adler32(second), len(second))
    assert joined == zlib.adler32(first + second)
