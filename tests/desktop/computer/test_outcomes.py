import base64
from dataclasses import replace
from typing import Any

import pytest

from deskhand.desktop.actions.points import ActionPoint, pointer_point
from deskhand.desktop.actions.requests import action_request
from deskhand.desktop.capture.diff import Changes
from deskhand.desktop.computer.outcomes import (
    BatchOutcome,
    Observation,
    Outcome,
    ScreenshotResult,
    batch_json,
    etag,
    frame_id,
    outcome_json,
    outcome_of,
    without_screenshots,
)
from deskhand.desktop.errors import ActionFailed
from deskhand.desktop.geometry import Point, Region, Size, space
from deskhand.desktop.screenshots.options import PictureOptions, View
from deskhand.desktop.windows.focused import Focused
from tests.desktop.fakes import NATIVE, frame, pointer

MODEL = space("model", NATIVE)
SHOT = ScreenshotResult("b-1", "b-1-x", "png", Size(1280, 720), NATIVE, b"png")
OUTCOME = Outcome("done", MODEL, NATIVE, "b-1", {"act": 1.23456})
NOTES = Focused(7, "Notes")
SEEN = Observation("b-2", "quiet", Changes(0.25, (Region(0, 0, 150, 150),)), SHOT, None, NOTES)
VIEW = View(Size(1280, 720), None, PictureOptions())


@pytest.mark.parametrize(
    ("asked", "position", "point", "output", "clamped"),
    [
        ({"action": "wait"}, None, None, "wait action performed", False),
        ({"action": "cursor_position"}, (1919, 1079), (1279, 719), "x=1279,y=719", False),
        (
            {"action": "left_click", "coordinate": [1281, 5]},
            (1919, 8),
            (1279, 5),
            "left_click action performed",
            True,
        ),
    ],
)
def test_an_outcome_is_in_the_pixels_of_its_request(
    asked: dict[str, Any],
    position: tuple[int, int] | None,
    point: tuple[int, int] | None,
    output: str,
    clamped: bool,
) -> None:
    request = action_request(asked, NATIVE)
    at = request.point
    if at is None and position is not None:
        at = pointer_point(Point(*position), request.space, NATIVE)
    found = outcome_of(request, NATIVE, at, "b-1", None, {})
    points = (found.point.requested, found.point.native) if found.point else (None, None)
    assert points == (point, position)
    assert (found.output, found.clamped, found.frame_id) == (output, clamped, "b-1")


def test_a_plain_answer_has_no_fields_that_do_not_apply() -> None:
    assert outcome_json(OUTCOME, "i") == {
        "output": "done",
        "frame_id": "b-1",
        "space": {"name": "model", "width": 1280, "height": 720},
        "timings": {"act_ms": 1.235, "settle_ms": 0.0, "capture_ms": 0.0, "encode_ms": 0.0},
        "instance_id": "i",
    }


def test_a_response_has_both_points() -> None:
    moved = replace(OUTCOME, point=ActionPoint(Point(1, 2), Point(3, 4), Point(5, 6)), clamped=True)
    body = outcome_json(moved, "i")
    assert (body["point"], body["native_point"], body["clamped"]) == ([1, 2], [3, 4], True)
    assert body["model_point"] == [5, 6]


def test_a_picture_is_in_base64_with_its_size() -> None:
    body = outcome_json(replace(OUTCOME, screenshot=SHOT), "i")
    assert base64.b64decode(body["screenshot_data"]) == b"png"
    assert (body["screenshot_width"], body["screenshot_height"]) == (1280, 720)
    assert body["screenshot_media_type"] == "image/png"
    assert body["native_size"] == {"width": 1920, "height": 1080}


def test_a_picture_the_caller_has_is_not_sent_again() -> None:
    body = outcome_json(replace(OUTCOME, screenshot=replace(SHOT, data=None)), "i")
    assert body["unchanged"] is True
    assert "screenshot_data" not in body


def test_an_observation_is_in_the_pixels_of_the_request() -> None:
    body = outcome_json(replace(OUTCOME, observation=SEEN), "i")
    assert body["settled"] == "quiet"
    assert body["changed_fraction"] == 0.25
    assert body["changed_regions"] == [[0, 0, 100, 100]]
    assert body["focused_before"] is None
    assert body["focused_after"] == {"id": 7, "title": "Notes"}
    hinted = replace(SEEN, focused_after=replace(NOTES, hint="Click Open."))
    body = outcome_json(replace(OUTCOME, observation=hinted), "i")
    assert body["focused_after"] == {"id": 7, "title": "Notes", "hint": "Click Open."}
    assert "screenshot_data" in body


def test_targets_are_in_an_answer_that_was_asked_for_them() -> None:
    assert "targets" not in outcome_json(replace(OUTCOME, observation=SEEN), "i")
    seen = replace(SEEN, targets=({"role": "button"}, None))
    body = outcome_json(replace(OUTCOME, observation=seen), "i")
    assert body["targets"] == [{"role": "button"}, None]


def test_an_observation_may_be_without_picture_and_settling() -> None:
    seen = replace(SEEN, settled=None, screenshot=None)
    body = outcome_json(replace(OUTCOME, observation=seen), "i")
    assert body["frame_id"] == "b-2"
    assert "settled" not in body
    assert "screenshot_data" not in body


def test_a_batch_answers_for_each_of_its_actions() -> None:
    failed = ActionFailed("Scroll failed.", "no wheel")
    body = batch_json(
        BatchOutcome([OUTCOME, failed], 2, MODEL, NATIVE, "b-2", {"settle": 2.0}, SEEN), "i"
    )
    assert [result.get("output") for result in body["results"]] == [
        "done",
        "Scroll failed. no wheel",
        None,
        None,
    ]
    assert body["results"][1]["error"] == {"message": "Scroll failed.", "detail": "no wheel"}
    assert body["results"][2] == {"skipped": True}
    assert body["skipped"] == 2
    assert body["settled"] == "quiet"
    assert body["timings"]["settle_ms"] == 2.0
    assert body["instance_id"] == "i"


def test_a_frame_is_named_by_its_display_and_count() -> None:
    assert frame_id("boot", frame(NATIVE, 7), 2) == "boot-9"


def test_an_etag_names_all_that_changes_the_bytes() -> None:
    views = [
        VIEW,
        replace(VIEW, size=Size(640, 360)),
        replace(VIEW, region=Region(0, 0, 9, 9)),
        replace(VIEW, options=PictureOptions("jpeg")),
        replace(VIEW, options=PictureOptions(quality=5)),
    ]
    tags = {etag("b-1", view, None) for view in views}
    tags |= {etag("b-1", VIEW, pointer()), etag("b-1", VIEW, pointer(9, 9))}
    tags |= {etag("b-1", VIEW, pointer(serial=2)), etag("b-2", VIEW, None)}
    assert len(tags) == 9
    assert etag("b-1", VIEW, pointer()) == etag("b-1", VIEW, pointer())


def test_a_response_has_the_redacted_text_only_where_a_text_is_hidden() -> None:
    assert outcome_json(replace(OUTCOME, redacted_text="7 characters"), "i")["told_text"] == (
        "7 characters"
    )


def test_a_response_names_the_site_that_received_a_protected_text() -> None:
    assert "typed_into" not in outcome_json(OUTCOME, "i")
    found = outcome_json(replace(OUTCOME, typed_into="bank.example"), "i")
    assert found["typed_into"] == "bank.example"


def test_a_response_says_that_no_window_had_the_keyboard() -> None:
    assert "nothing_focused" not in outcome_json(OUTCOME, "i")
    assert outcome_json(replace(OUTCOME, nothing_focused=True), "i")["nothing_focused"] is True


def test_a_body_is_journaled_without_its_screenshots() -> None:
    assert without_screenshots({"output": "", "screenshot_data": "AA"}) == {"output": ""}
    body = {"results": [{"output": "screenshot", "screenshot_data": "AA"}], "skipped": 0}
    assert without_screenshots(body) == {"results": [{"output": "screenshot"}], "skipped": 0}
