import numpy as np
import pytest
from numpy.typing import NDArray

from deskhand.recording.ports import Overlay, Rectangle
from deskhand.recording.video.color_conversion import TILE_WIDTH, ColorConverter, tiles

WIDTH = 96
SEED = 7


def noise(height: int) -> NDArray[np.uint8]:
    return np.random.default_rng(SEED).integers(0, 255, (height, WIDTH, 4), dtype=np.uint8)


def planes(converter: ColorConverter) -> bytes:
    assert converter.picture is not None
    return b"".join(bytes(plane) for plane in converter.picture.planes)


@pytest.mark.parametrize("height", [60, 80, 242, 480])
@pytest.mark.parametrize("blurred", [False, True])
def test_parts_are_converted_exactly_as_the_whole(height: int, blurred: bool) -> None:
    chance = np.random.default_rng(SEED)
    converter, pixels = ColorConverter(blurred=blurred), noise(height)
    converter.draw(pixels)
    for turn in range(40):
        pixels = pixels.copy()
        top, bottom = sorted(chance.integers(0, height + 1, 2).tolist())
        if turn % 2:
            bottom = min(bottom, top + 5)
        rectangle: Rectangle = (10, top, 60, bottom)
        pixels[top:bottom, 10:60] = chance.integers(0, 255, (bottom - top, 50, 4))
        converter.draw(pixels, (rectangle,))
        whole = ColorConverter(blurred=blurred)
        whole.draw(pixels)
        assert planes(converter) == planes(whole), (turn, rectangle)


@pytest.mark.parametrize("height", [60, 242, 480])
@pytest.mark.parametrize("blurred", [False, True])
def test_an_overlay_is_converted_as_if_it_were_part_of_the_pixels(
    height: int, blurred: bool
) -> None:
    chance = np.random.default_rng(SEED)
    converter, pixels = ColorConverter(blurred=blurred), noise(height)
    last: Rectangle = (0, 0, 0, 0)
    for turn in range(20):
        left, top = int(chance.integers(0, WIDTH - 10)), int(chance.integers(0, height - 20))
        place: Rectangle = (left, top, left + 10, top + 20)
        small = chance.integers(0, 255, (20, 10, 4), dtype=np.uint8)
        # Now and then the whole is drawn anew, and the last time there is nothing to draw over.
        changed = None if turn % 5 == 0 else (last, place)
        converter.draw(pixels, changed, Overlay(place, small))
        expected = pixels.copy()
        expected[top : top + 20, left : left + 10] = small
        whole = ColorConverter(blurred=blurred)
        whole.draw(expected)
        assert planes(converter) == planes(whole), (turn, place)
        last = place
    empty = Overlay((5, 5, 5, 9), np.zeros((4, 0, 4), np.uint8))
    converter.draw(pixels, (last,), empty)
    whole = ColorConverter(blurred=blurred)
    whole.draw(pixels)
    assert planes(converter) == planes(whole)


def test_regions_without_changes_stay() -> None:
    converter = ColorConverter()
    assert converter.picture is None
    first = converter.draw(noise(480))
    before = planes(converter)
    assert converter.draw(np.zeros((480, WIDTH, 4), np.uint8), ()) is first
    assert planes(converter) == before


@pytest.mark.parametrize("width", [TILE_WIDTH + 2, 1366, 2000])
def test_tiles_beside_each_other_are_converted_exactly_as_the_whole(width: int) -> None:
    chance = np.random.default_rng(SEED)
    converter = ColorConverter()
    pixels = chance.integers(0, 255, (242, width, 4), dtype=np.uint8)
    converter.draw(pixels)
    for turn in range(30):
        pixels = pixels.copy()
        left = min(int(chance.integers(0, width)), width - 8)
        top = int(chance.integers(0, 236))
        changed: Rectangle = (left, top, left + 8, top + 6)
        pixels[top : top + 6, left : left + 8] = chance.integers(0, 255, (6, 8, 4))
        # The overlay covers the seam between two columns of tiles.
        place: Rectangle = (TILE_WIDTH - 5, top, TILE_WIDTH + 2, top + 6)
        small = chance.integers(0, 255, (6, 7, 4), dtype=np.uint8)
        converter.draw(
            pixels, (changed, (TILE_WIDTH - 5, 0, TILE_WIDTH + 2, 242)), Overlay(place, small)
        )
        expected = pixels.copy()
        expected[top : top + 6, TILE_WIDTH - 5 : TILE_WIDTH + 2] = small
        whole = ColorConverter()
        whole.draw(expected)
        # FFmpeg writes beyond the end of a row, so only what is shown is compared.
        seen, wanted = (one.picture.to_ndarray() for one in (converter, whole) if one.picture)
        assert np.array_equal(seen, wanted), (turn, changed)


def test_tiles_cover_what_changed_with_its_neighbours() -> None:
    assert tiles((), 96, 1080) == []
    assert tiles(((0, 20, 9, 40),), 96, 1080) == [(0, 0)]
    assert tiles(((0, 60, 9, 62),), 96, 1080) == [(0, 0), (0, 64)]
    assert tiles(((0, 66, 9, 70), (0, -5, 9, 2)), 96, 1080) == [(0, 0), (0, 64)]
    assert tiles(((0, 1079, 9, 4000),), 96, 1080) == [(0, 1024)]
    assert tiles(((955, 20, 958, 40),), 1920, 1080) == [(0, 0), (960, 0)]
    assert tiles(((969, 20, 990, 40), (1919, 20, 5000, 40)), 1920, 1080) == [(960, 0)]
    assert len(tiles(((0, 0, 1920, 1080),), 1920, 1080)) == 2 * 17
