import re
from dataclasses import replace
from typing import Any

import pytest

from deskhand.tools.control_plane.run_video.playlist import run_video
from deskhand.tools.conversation.views import FileView
from deskhand.tools.run_pictures.sheet import (
    LONGEST_CAPTION,
    MOST,
    SELECTION,
    caption,
    point,
    selected,
    tag,
)


def steps(count: int) -> list[dict[str, Any]]:
    return [
        {"index": index, "title": f"Step {index + 1}", "video_end": 1.0} for index in range(count)
    ]


@pytest.mark.parametrize("text", ["all", "failed", "1", "12-120"])
def test_selections_have_a_form(text: str) -> None:
    assert re.search(SELECTION, text)


@pytest.mark.parametrize("text", ["", "0", "-3", "3-", "1-0", "none", "1,2", "all "])
def test_other_texts_are_no_selection(text: str) -> None:
    assert not re.search(SELECTION, text)


@pytest.mark.parametrize(
    ("selection", "indexes"),
    [("all", [0, 1, 2, 3]), ("2", [1]), ("2-3", [1, 2]), ("3-99", [2, 3]), ("9", []), ("3-2", [])],
)
def test_steps_are_selected_by_their_numbers(selection: str, indexes: list[int]) -> None:
    assert [step["index"] for step in selected(steps(4), selection)] == indexes


def test_failed_steps_are_those_with_an_error() -> None:
    given = steps(3)
    given[1]["error"] = "No such window."
    assert selected(given, "failed") == [given[1]]


def test_of_many_steps_some_are_shown_with_the_first_and_the_last() -> None:
    found = selected(steps(1000), "all")
    assert len(found) == MOST
    assert (found[0]["index"], found[-1]["index"]) == (0, 999)
    assert len(selected(steps(MOST), "all")) == MOST


def test_a_caption_has_the_number_and_what_was_done() -> None:
    assert caption({"index": 0, "title": "Click OK"}) == "1 Click OK"
    assert caption({"index": 1, "title": "", "action": "left_click"}) == "2 left_click"
    assert caption({"index": 2}) == "3 "
    long = caption({"index": 2, "title": "x" * 99})
    assert len(long) == LONGEST_CAPTION
    assert long.endswith("…")


def test_a_click_has_a_point() -> None:
    assert point({"native_point": [3, 4]}) == (3.0, 4.0)
    assert point({"native_point": None}) is None
    assert point({}) is None


def test_the_tag_changes_with_what_is_shown() -> None:
    file = FileView("f1", "c1", "recording", "run.mp4", "video/mp4", 3, "ab" * 32, 1.0)
    found, same = run_video([(1, file)]), run_video([(1, file)])
    other = run_video([(1, replace(file, sha256="", id="f2"))])
    usual = tag(found, steps(2), 4)
    assert tag(same, steps(2), 4) == usual
    changed = {tag(found, steps(3), 4), tag(found, steps(2), 3), tag(other, steps(2), 4)}
    assert len(changed | {usual}) == 4
