from dataclasses import replace

import numpy as np

from deskhand.desktop.capture.diff import MOST_REGIONS, changes, scrolled_by
from deskhand.desktop.capture.frames import Frame
from deskhand.desktop.geometry import Point, Region, Size, whole
from tests.desktop.fakes import SMALL, frame

PIXELS = SMALL.width * SMALL.height
SPOT = Region(10, 10, 14, 15)


def test_the_same_frame_has_no_changes_and_is_not_compared() -> None:
    same = frame(SMALL, 7)
    assert changes(same, same, [whole(SMALL)]).regions == ()


def test_a_change_is_found_in_its_exact_box() -> None:
    found = changes(frame(SMALL, 0), frame(SMALL, 1, SPOT), [whole(SMALL)])
    assert found.regions == (SPOT,)
    assert found.fraction == 20 / PIXELS


def test_a_repaint_with_the_same_pixels_is_no_change() -> None:
    found = changes(frame(SMALL, 0, SPOT), frame(SMALL, 1, SPOT), [SPOT])
    assert found.fraction == 0.0
    assert found.regions == ()


def test_regions_without_damage_are_not_compared() -> None:
    found = changes(frame(SMALL, 0), frame(SMALL, 1, SPOT), [Region(40, 40, 50, 45)])
    assert found.regions == ()


def test_overlapping_paints_are_counted_once() -> None:
    found = changes(frame(SMALL, 0), frame(SMALL, 1, SPOT), [SPOT, Region(9, 9, 20, 20)])
    assert found.fraction == 20 / PIXELS


def test_paints_beyond_the_screen_are_cut_off() -> None:
    edge = Region(60, 40, 64, 48)
    found = changes(
        frame(SMALL, 0), frame(SMALL, 1, edge), [Region(60, 40, 99, 99), Region(99, 99, 120, 120)]
    )
    assert found.regions == (edge,)


def test_the_meaningless_fourth_byte_does_not_count() -> None:
    before = frame(SMALL, 0)
    pixels = before.pixels.copy()
    pixels[..., 3] = 9
    assert changes(before, Frame(pixels, 1, 0.0), [whole(SMALL)]).fraction == 0.0


def test_pixels_that_are_not_contiguous_are_compared_too() -> None:
    large = np.zeros((SMALL.height, SMALL.width * 2, 4), np.uint8)
    before = Frame(large[:, : SMALL.width], 0, 0.0)
    found = changes(before, frame(SMALL, 1, SPOT), [whole(SMALL)])
    assert found.regions == (SPOT,)


def test_a_screen_of_another_size_has_changed_altogether() -> None:
    large = Size(80, 60)
    found = changes(frame(SMALL, 0), frame(large, 1), [])
    assert found.fraction == 1.0
    assert found.regions == (whole(large),)


def test_many_changes_are_joined_to_a_few() -> None:
    spots = [Region(x, y, x + 1, y + 1) for x in range(0, 60, 4) for y in range(0, 40, 4)]
    found = changes(frame(SMALL, 0), frame(SMALL, 1, *spots), spots)
    assert len(found.regions) == MOST_REGIONS
    assert found.fraction == len(spots) / PIXELS
    assert all(any(box.covers(spot) for box in found.regions) for spot in spots)


def test_very_many_paints_are_compared_as_fewer() -> None:
    screen = Size(400, 300)
    spots = [Region(x, y, x + 1, y + 1) for x in range(0, 400, 10) for y in range(0, 300, 10)]
    after = replace(frame(screen, 1, spots[-1], spots[0]))
    found = changes(frame(screen, 0), after, spots)
    assert found.fraction == 2 / (400 * 300)


RANDOM = np.random.default_rng(5)
CONTENT = RANDOM.integers(0, 255, (900, 500, 4), np.uint8)
MIDDLE = Point(250, 200)


def shown(top: int, left: int = 0, counter: int = 0) -> Frame:
    """Return a window on the content, between a heading and a column that do not move."""
    pixels = np.full((400, 500, 4), 255, np.uint8)
    pixels[40:, 100:] = CONTENT[top : top + 360, left : left + 400]
    pixels[:40], pixels[40:, :100] = CONTENT[:40], CONTENT[:360, :100]
    return Frame(pixels, counter, 0.0)


def test_the_distance_of_a_scroll_is_that_of_its_content() -> None:
    for distance in (16, 57, 98, 120, 250):
        assert scrolled_by(shown(100), shown(100 + distance), MIDDLE) == distance
    # Beside the column, some of the bands do not move.
    assert scrolled_by(shown(100), shown(198), Point(110, 200)) == 98
    assert scrolled_by(shown(100, 10), shown(100, 64), MIDDLE, sideways=True) == 54


def test_a_scroll_that_is_not_seen_has_no_distance() -> None:
    assert scrolled_by(shown(100), shown(100), MIDDLE) == 0
    # Back, by less than a notch, further than the window shows, or another content.
    for other in (60, 105, 480):
        assert scrolled_by(shown(100), shown(other), MIDDLE) == 0
    assert scrolled_by(shown(100), frame(SMALL, 1), MIDDLE) == 0
    blank = Frame(np.full((400, 500, 4), 255, np.uint8), 0, 0.0)
    assert scrolled_by(shown(100), blank, MIDDLE) == 0


def test_content_that_repeats_itself_has_scrolled_as_usual() -> None:
    lines = np.tile(CONTENT[:20], (40, 1, 1))
    before, after = Frame(lines[:400], 0, 0.0), Frame(lines[7:407], 1, 0.0)
    assert scrolled_by(after, before, MIDDLE) == 113
    assert scrolled_by(before, after, MIDDLE) == 127
