"""Which clicks are on a trail, and on which picture."""

from typing import Any

from deskhand.tools.control_plane.run_video.playlist import RunVideo
from deskhand.tools.run_pictures.trail import background, trail_points, trail_tag

CLICK: dict[str, Any] = {"index": 0, "tool": "computer", "native_point": [3, 4], "video_end": 1.5}
KEY: dict[str, Any] = {"index": 1, "tool": "computer", "video_end": 2.5}
PERSON: dict[str, Any] = {"index": 2, "tool": "human", "native_point": [9, 9], "video_end": 9.0}


def test_the_clicks_of_the_agent_have_the_numbers_of_their_steps() -> None:
    failed = CLICK | {"index": 7, "error": "No."}
    assert trail_points([CLICK, KEY, PERSON, failed]) == [(3, 4, "1", False), (3, 4, "8", True)]


def test_the_picture_is_that_after_the_last_click() -> None:
    assert background([CLICK, KEY, PERSON]) == 1.5
    assert background([KEY, PERSON]) == 2.5


def test_the_time_of_a_person_has_no_picture() -> None:
    assert background([PERSON]) is None
    assert background([]) is None


def test_the_tag_depends_on_the_points_and_the_picture() -> None:
    points = trail_points([CLICK])
    tags = {trail_tag(RunVideo(()), *rest) for rest in ((points, 1.5), (points, 2.5), ([], 1.5))}
    assert len(tags) == 3
