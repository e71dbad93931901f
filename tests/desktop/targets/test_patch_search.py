"""Search of a patch in a frame."""

import numpy as np
import pytest
from numpy.typing import NDArray

from deskhand.desktop.geometry import Point
from deskhand.desktop.targets.patch_search import (
    Picture,
    PixelPatch,
    cut,
    find_patch,
    has_structure,
    resized,
)

RANDOM = np.random.default_rng(7)


def screen(*places: tuple[int, int, Picture], size: tuple[int, int] = (400, 300)) -> Picture:
    frame = np.full((size[1], size[0], 3), 240, np.uint8)
    for left, top, picture in places:
        frame[top : top + picture.shape[0], left : left + picture.shape[1]] = picture
    return frame


def drawing(seed: int, width: int = 64, height: int = 40) -> Picture:
    """A button with letters: an edge around it, and strokes in it."""
    random = np.random.default_rng(seed)
    picture = np.full((height, width, 3), 220, np.uint8)
    picture[[0, -1]] = picture[:, [0, -1]] = 90
    for _ in range(10):
        x, y = random.integers(4, width - 12), random.integers(4, height - 12)
        picture[y : y + random.integers(2, 8), x : x + 2] = (20, 30, 40)
    return picture


def bgrx(picture: Picture) -> NDArray[np.uint8]:
    frame = np.zeros((*picture.shape[:2], 4), np.uint8)
    frame[..., :3] = picture[..., ::-1]
    return frame


def test_a_patch_is_found_where_it_was_cut() -> None:
    frame = screen((50, 60, drawing(1)), (200, 100, drawing(2)), (100, 200, drawing(3)))
    patch, at = cut(bgrx(frame), Point(232, 120))
    found = find_patch(frame, PixelPatch(patch), at)
    assert found.unique
    assert found.matches[0].point == Point(232, 120)
    assert found.matches[0].score == 1.0


def test_a_patch_is_found_where_it_has_moved_to() -> None:
    patch = drawing(2)
    frame = screen((5, 5, drawing(1)), (301, 203, patch), (100, 200, drawing(3)))
    found = find_patch(frame, PixelPatch(patch), Point(30, 20))
    assert found.unique
    assert found.matches[0].point == Point(331, 223)


def test_slightly_other_colours_are_the_same() -> None:
    frame = screen((301, 203, drawing(2)), (5, 5, drawing(1)))
    noise = RANDOM.integers(-8, 9, drawing(2).shape)
    patch = np.clip(drawing(2).astype(int) + noise, 0, 255).astype(np.uint8)
    assert find_patch(frame, PixelPatch(patch), Point(0, 0)).unique


def test_a_second_equal_place_makes_it_ambiguous() -> None:
    frame = screen((5, 5, drawing(1)), (200, 5, drawing(1)))
    found = find_patch(frame, PixelPatch(drawing(1)), Point(0, 0))
    assert not found.unique
    assert {one.point for one in found.matches[:2]} == {Point(5, 5), Point(200, 5)}


def test_a_button_with_another_text_is_another_button() -> None:
    frame = screen((5, 5, drawing(1)), (200, 5, drawing(2)))
    assert not find_patch(frame, PixelPatch(drawing(3)), Point(0, 0)).unique
    assert find_patch(frame, PixelPatch(drawing(1)), Point(0, 0)).matches[0].point == Point(5, 5)


@pytest.mark.parametrize("color", [(240, 240, 240), (1, 2, 3)])
def test_a_plain_patch_is_never_found(color: tuple[int, int, int]) -> None:
    patch = np.full((40, 64, 3), color, np.uint8)
    assert find_patch(screen(), PixelPatch(patch), Point(0, 0)).matches == ()


def test_a_patch_larger_than_the_frame_is_not_found() -> None:
    assert not find_patch(drawing(1), PixelPatch(drawing(1, 80, 40)), Point(0, 0)).unique
    assert not find_patch(drawing(1), PixelPatch(drawing(1, 64, 50)), Point(0, 0)).unique


def test_a_pattern_with_too_many_places_is_not_unique() -> None:
    stripes = screen()
    stripes[:, ::4] = 0
    found = find_patch(stripes, PixelPatch(stripes[:40, :64].copy()), Point(0, 0))
    assert not found.unique
    assert len(found.matches) == 5


def test_nothing_like_it() -> None:
    assert find_patch(screen(), PixelPatch(drawing(1)), Point(0, 0)).matches == ()


@pytest.mark.parametrize("at", [Point(0, 0), Point(399, 299), Point(200, 3), Point(3, 150)])
def test_a_patch_at_the_edge_has_its_full_size(at: Point) -> None:
    frame = RANDOM.integers(0, 256, (300, 400, 4), np.uint8)
    patch, inside = cut(frame, at)
    assert patch.shape == (40, 64, 3)
    assert (patch[inside.y, inside.x] == frame[at.y, at.x, 2::-1]).all()


def test_a_patch_of_a_small_screen_is_the_whole_screen() -> None:
    patch, inside = cut(RANDOM.integers(0, 256, (20, 30, 4), np.uint8), Point(7, 8))
    assert patch.shape == (20, 30, 3)
    assert inside == Point(7, 8)


@pytest.mark.parametrize("factor", [0.5, 1.5, 2.0])
def test_a_scaled_patch_is_found_on_a_scaled_screen(factor: float) -> None:
    frame = screen((40, 60, drawing(1)), (200, 100, drawing(2)))
    larger = resized(PixelPatch(frame), Point(0, 0), factor)[0].pixels
    patch, at = resized(PixelPatch(drawing(2)), Point(32, 20), factor)
    found = find_patch(larger, patch, at)
    assert found.unique
    point = found.matches[0].point
    assert abs(point.x - 232 * factor) <= 2
    assert abs(point.y - 120 * factor) <= 2


@pytest.mark.parametrize("seed", range(20))
def test_random_screens(seed: int) -> None:
    random = np.random.default_rng(seed)
    spots = [(int(x), int(y)) for x in range(0, 330, 70) for y in range(0, 250, 50)]
    random.shuffle(spots)
    frame = screen(*((x, y, drawing(1000 * seed + i)) for i, (x, y) in enumerate(spots[:8])))
    wanted = int(random.integers(0, 8))
    x, y = spots[wanted]
    found = find_patch(frame, PixelPatch(drawing(1000 * seed + wanted)), Point(3, 4))
    assert found.unique
    assert found.matches[0].point == Point(x + 3, y + 4)


def test_ignored_pixels_may_differ() -> None:
    ignored = np.zeros((40, 64), bool)
    ignored[5:20, 5:50] = True
    changed = drawing(2)
    changed[5:20, 5:50] = RANDOM.integers(0, 256, (15, 45, 3), np.uint8)
    frame = screen((301, 203, changed), (5, 5, drawing(1)))
    assert not find_patch(frame, PixelPatch(drawing(2)), Point(0, 0)).unique
    found = find_patch(frame, PixelPatch(drawing(2), ignored), Point(0, 0))
    assert found.unique
    assert found.matches[0].point == Point(301, 203)
    larger = resized(PixelPatch(frame), Point(0, 0), 2.0)[0].pixels
    twice, _ = resized(PixelPatch(drawing(2), ignored), Point(0, 0), 2.0)
    assert find_patch(larger, twice, Point(0, 0)).matches[0].point == Point(602, 406)


def test_a_patch_of_ignored_pixels_has_no_structure() -> None:
    assert has_structure(PixelPatch(drawing(1)))
    assert not has_structure(PixelPatch(drawing(1), np.ones((40, 64), bool)))
