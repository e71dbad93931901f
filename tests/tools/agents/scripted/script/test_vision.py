import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from deskhand.tools.agents.scripted.script.vision import (
    Blob,
    changed_fraction,
    colour,
    find_blob,
    find_nearest,
)
from tests.tools.agents.loop.fakes import screen

RED = (0xE6, 0x19, 0x4B)
GREEN = (0x3C, 0xB4, 0x4B)
NATIVE = (1920, 1080)
MODEL = (1280, 720)


def shrunk(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Scale by 2/3, each pixel the exact mean of the area it covers."""
    tall = np.repeat(np.repeat(pixels.astype(np.float64), 2, axis=0), 2, axis=1)
    height, width = tall.shape[0] // 3, tall.shape[1] // 3
    means = tall.reshape(height, 3, width, 3, 3).mean(axis=(1, 3))
    return np.asarray(np.floor(means + 0.5), dtype=np.uint8)


def native(v: int, model: int, size: int) -> int:
    """Where a click at model pixel ``v`` lands."""
    return int(np.clip(np.floor((v + 0.5) * size / model), 0, size - 1))


def test_a_colour_is_read_from_its_hexadecimal_form() -> None:
    assert colour("#e6194b") == RED


@pytest.mark.parametrize("text", ["e6194b", "#e6194", "red", "#gggggg", "#e6194b0"])
def test_anything_else_is_no_colour(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        colour(text)


def test_nothing_is_found_where_the_colour_is_not() -> None:
    assert find_blob(screen(((5, 5, 9, 9), GREEN), size=(40, 30)), RED) is None


def test_the_point_of_a_patch_is_at_its_centre() -> None:
    pixels = screen(((10, 20, 21, 25), RED), size=(40, 30))
    assert find_blob(pixels, RED) == Blob(15, 22, 55)


def test_the_largest_of_several_patches_is_taken() -> None:
    pixels = screen(((1, 1, 4, 4), RED), ((20, 3, 25, 8), RED), ((8, 9, 9, 10), RED), size=(40, 30))
    assert find_blob(pixels, RED) == Blob(22, 5, 25)


def test_pixels_that_touch_at_a_corner_are_one_patch() -> None:
    stairs = screen(((2, 2, 3, 3), RED), ((3, 3, 4, 4), RED), ((2, 4, 3, 5), RED), size=(8, 8))
    assert find_blob(stairs, RED) == Blob(3, 3, 3)


def test_arms_that_meet_below_are_one_patch() -> None:
    fork = screen(((2, 2, 3, 6), RED), ((6, 2, 7, 6), RED), ((2, 6, 7, 7), RED), size=(10, 10))
    blob = find_blob(fork, RED)
    assert blob is not None
    assert blob.pixels == 13


def test_a_gap_of_one_row_parts_two_patches() -> None:
    pixels = screen(((2, 2, 5, 3), RED), ((2, 4, 6, 5), RED), size=(10, 10))
    blob = find_blob(pixels, RED)
    assert blob is not None
    assert (blob.y, blob.pixels) == (4, 4)


def test_the_point_of_a_ring_lies_on_the_ring() -> None:
    ring = screen(((5, 5, 25, 25), RED), ((8, 8, 22, 22), GREEN), size=(40, 30))
    blob = find_blob(ring, RED)
    assert blob is not None
    assert tuple(ring[blob.y, blob.x]) == RED


def test_the_purest_pixel_is_preferred_to_the_middle() -> None:
    pixels = screen(((5, 5, 8, 6), (0xE6, 0x19, 0x55)), size=(20, 10))
    pixels[5, 7] = RED
    assert find_blob(pixels, RED) == Blob(7, 5, 3)


@given(st.integers(0, NATIVE[0] - 4), st.integers(0, NATIVE[1] - 4))
def test_a_target_of_four_native_pixels_is_hit_wherever_it_lies(x: int, y: int) -> None:
    # A window around the target, cut where both grids meet, keeps this quick.
    left, top = max(0, x - x % 3 - 3), max(0, y - y % 3 - 3)
    window = screen(((x - left, y - top, x - left + 4, y - top + 4), RED), size=(15, 15))
    blob = find_blob(shrunk(window), RED)
    assert blob is not None
    at_x = native(left * 2 // 3 + blob.x, MODEL[0], NATIVE[0])
    at_y = native(top * 2 // 3 + blob.y, MODEL[1], NATIVE[1])
    assert x <= at_x < x + 4
    assert y <= at_y < y + 4


@pytest.mark.parametrize("corner", [(0, 0), (1916, 0), (0, 1076), (1916, 1076), (958, 538)])
def test_targets_in_the_corners_and_the_centre_of_a_whole_picture_are_hit(
    corner: tuple[int, int],
) -> None:
    x, y = corner
    picture = shrunk(screen(((x, y, x + 4, y + 4), RED), size=NATIVE))
    assert picture.shape == (720, 1280, 3)
    blob = find_blob(picture, RED)
    assert blob is not None
    assert 1 <= blob.pixels <= 9
    assert x <= native(blob.x, 1280, 1920) < x + 4
    assert y <= native(blob.y, 720, 1080) < y + 4


def test_of_mixed_pixels_only_the_nearest_in_colour_is_left_to_point_at() -> None:
    mixture = screen(((7, 4, 8, 5), (0xD0, 0x30, 0x60)), size=(20, 10))
    assert find_blob(mixture, RED) is None
    assert find_nearest(mixture, RED) == Blob(7, 4, 1)


def test_the_nearest_colour_is_no_help_when_it_is_far_off() -> None:
    assert find_nearest(screen(((7, 4, 8, 5), GREEN), size=(20, 10)), RED) is None


def test_find_nearest_takes_a_true_patch_first() -> None:
    pixels = screen(((5, 5, 8, 8), RED), size=(20, 10))
    assert find_nearest(pixels, RED) == find_blob(pixels, RED)


def test_the_changed_part_of_a_picture_is_counted_in_pixels() -> None:
    before = screen(size=(20, 10))
    after = screen(((0, 0, 10, 1), RED), size=(20, 10))
    assert changed_fraction(before, after) == pytest.approx(0.05)
    assert changed_fraction(before, before) == 0.0
    assert changed_fraction(before, screen(size=(10, 10))) == 1.0
