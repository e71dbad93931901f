from typing import Any

import pytest

from deskhand.tools.control_plane.run_video.durations import duration, positions, seconds, total

TWO_PARTS: dict[str, Any] = {
    "id": "c1",
    "started_at": 5.0,
    "video_s": 30.0,
    "duration_s": 100.0,
    "parts": [{"index": 0, "video_start": 0.0}, {"index": 1, "video_start": 22.5}],
}
NEXT_TURN: dict[str, Any] = {**TWO_PARTS, "started_at": 500.0, "duration_s": 7, "parts": []}


def test_parts_are_counted_for_each_recording_by_itself() -> None:
    assert positions([TWO_PARTS, TWO_PARTS, NEXT_TURN]) == [0, 1, 0]
    assert positions([]) == []


def test_a_part_lasts_until_the_next_one_or_the_end() -> None:
    assert seconds(TWO_PARTS, 0) == 22.5
    assert seconds(TWO_PARTS, 1) == 7.5


def test_a_recording_without_parts_is_one() -> None:
    assert seconds({"video_s": 4}, 0) == 4.0
    assert seconds({"video_s": 4}, 1) is None


@pytest.mark.parametrize(
    ("metadata", "position"),
    [
        ({}, 0),
        ({"video_s": "long"}, 0),
        (TWO_PARTS, 2),
        ({"video_s": 4, "parts": [{}]}, 0),
        ({"video_s": 4, "parts": [{"video_start": 0}, {}]}, 0),
    ],
)
def test_an_unknown_length_is_none(metadata: dict[str, Any], position: int) -> None:
    assert seconds(metadata, position) is None


def test_real_time_counts_each_recording_once() -> None:
    assert duration([TWO_PARTS, TWO_PARTS, NEXT_TURN]) == 107.0
    assert duration([{}]) is None


def test_what_is_not_known_is_left_out_of_a_sum() -> None:
    assert total([1.5, None, 2.25]) == 3.75
    assert total([None]) is None
