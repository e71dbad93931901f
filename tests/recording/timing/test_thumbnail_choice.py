import numpy as np
import pytest

from deskhand.recording.timing.thumbnail_choice import (
    ThumbnailChoice,
    detail_score,
    fitted,
    is_bare,
)
from tests.recording.fakes import plain


def test_a_plain_surface_has_no_detail() -> None:
    assert detail_score(plain(1920, 1080)) == 0


def test_text_has_more_detail_than_a_single_window() -> None:
    window = plain(1920, 1080)
    window[200:700, 300:1200, :3] = 20
    text = plain(1920, 1080)
    text[::24, :, :3] = 0
    assert 0 < detail_score(window) < detail_score(text) <= 1


def test_a_screen_smaller_than_the_grid_has_a_score() -> None:
    assert detail_score(np.zeros((5, 5, 4), np.uint8)) == 0


def test_a_text_in_the_middle_of_a_plain_surface_is_bare() -> None:
    shown = plain(1920, 1080)
    assert is_bare(shown)
    shown[500:580:4, 400:1500, :3] = 0
    assert is_bare(shown)
    # A panel at the edge belongs to a screen that shows something.
    shown[1040:, :, :3] = 0
    assert not is_bare(shown)
    assert is_bare(np.zeros((5, 5, 4), np.uint8))


@pytest.mark.parametrize(
    ("screen", "shown"),
    [
        ((1920, 1080), (640, 360)),
        ((1280, 800), (640, 400)),
        ((641, 481), (640, 480)),
        ((320, 240), (320, 240)),
        ((4000, 1), (640, 1)),
    ],
)
def test_thumbnails_keep_the_shape_and_are_never_enlarged(
    screen: tuple[int, int], shown: tuple[int, int]
) -> None:
    assert fitted(*screen) == shown


def test_the_first_frame_wins_until_a_better_one_comes() -> None:
    contest = ThumbnailChoice()
    assert contest.wins(0.0, 0.0)
    assert contest.wins(0.2, 1.0)
    assert not contest.wins(0.09, 2.0)
    assert contest.best == 0.2


def test_of_two_alike_the_later_one_wins() -> None:
    contest = ThumbnailChoice()
    contest.wins(0.20, 0.0)
    assert contest.wins(0.19, 1.0)


def test_frames_are_scored_once_a_second() -> None:
    contest = ThumbnailChoice()
    assert contest.due(5.0)
    contest.wins(0.1, 5.0)
    assert not contest.due(5.9)
    assert contest.due(6.0)


def test_the_last_frame_with_enough_detail_wins() -> None:
    contest = ThumbnailChoice()
    assert [contest.wins(score, at) for at, score in enumerate((0.2, 0.12, 0.09, 0.11))] == [
        *(True, True, False, True)
    ]


def test_a_blank_page_never_replaces_a_page() -> None:
    contest = ThumbnailChoice()
    assert contest.wins(0.001, 0.0)
    assert contest.wins(0.003, 1.0)
    assert not contest.wins(0.0019, 2.0)
