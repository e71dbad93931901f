from typing import Any

import pytest

from deskhand.tools.control_plane.errors import NoSuchVideoMoment
from deskhand.tools.control_plane.run_video.filmstrip import described, is_exact, moments, tiles
from deskhand.tools.control_plane.run_video.playlist import RunVideo, run_video
from tests.tools.control_plane.fakes import file_view


def lasting(seconds: float) -> RunVideo:
    described: dict[str, Any] = {
        "id": "c",
        "started_at": 1.0,
        "video_s": seconds,
        "parts": [{"video_start": 0.0}, {"video_start": seconds / 2}],
    }
    return run_video([(n, file_view(id=str(n), metadata=described)) for n in (1, 2)])


def test_tiles_show_the_middles_of_equal_spans_of_all_parts() -> None:
    shown = moments(lasting(16.0))
    assert [(piece.file.id, piece.start) for piece in shown][:2] == [("1", 0.5), ("1", 1.5)]
    assert [(piece.file.id, piece.start) for piece in shown][-2:] == [("2", 6.5), ("2", 7.5)]
    assert len(shown) == 16


@pytest.mark.parametrize(
    ("seconds", "count", "exact"), [(0.5, 8, True), (30.0, 30, True), (600.0, 60, False)]
)
def test_a_strip_has_neither_few_nor_many_tiles(seconds: float, count: int, exact: bool) -> None:
    assert tiles(lasting(seconds)) == count
    assert is_exact(lasting(seconds)) is exact


def test_a_page_gets_the_number_and_the_size_of_the_tiles() -> None:
    assert described(lasting(5.0), "api/v0/recordings/c") == {
        "url": "api/v0/recordings/c/filmstrip",
        "tiles": 8,
        "columns": 8,
        "width": 160,
        "height": 90,
    }


def test_an_empty_video_has_no_moments() -> None:
    with pytest.raises(NoSuchVideoMoment):
        moments(run_video([]))
