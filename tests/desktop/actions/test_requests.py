import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.desktop.actions.catalog import ACTIONS, Click, MouseMove, Wait
from deskhand.desktop.actions.fields import FIELDS
from deskhand.desktop.actions.points import ActionPoint
from deskhand.desktop.actions.requests import (
    Observe,
    action_request,
    batch_request,
    decode,
    picture_of,
)
from deskhand.desktop.capture.settle import SettleRule
from deskhand.desktop.errors import InvalidAction
from deskhand.desktop.fields import UNREADABLE
from deskhand.desktop.geometry import Point, Region, Size
from deskhand.desktop.screenshots.options import PictureOptions

NATIVE = Size(1920, 1080)
CLICK: dict[str, Any] = {"action": "left_click", "coordinate": [0, 0]}


def refused(data: dict[str, Any]) -> InvalidAction:
    with pytest.raises(InvalidAction) as caught:
        action_request(data, NATIVE)
    return caught.value


def test_an_object_is_decoded() -> None:
    assert decode(b'{"action": "wait"}') == {"action": "wait"}
    assert decode(b'\xef\xbb\xbf{"action": "wait"}') == {"action": "wait"}
    assert decode(b'{"text": "\\ud83d\\ude00"}') == {"text": "😀"}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff",
        b'{"x": NaN}',
        b'{"x": -Infinity}',
        b'{"x": ' + b"9" * 5000 + b"}",
        b'{"x": "\\ud800"}',
        b'{"x": "\xed\xa0\x80"}',
        '{"x": 1}'.encode("utf-16"),
        b"[" * 100_000,
    ],
    ids=lambda body: repr(body[:12]),
)
def test_what_is_no_json_object_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidAction) as caught:
        decode(body)
    assert caught.value.message == UNREADABLE
    assert caught.value.detail


def test_the_corner_is_a_coordinate_like_any_other() -> None:
    request = action_request(CLICK, NATIVE)
    assert request.action == Click(Point(0, 0), 1, 1, ())
    assert request.point == ActionPoint(Point(0, 0), Point(0, 0), Point(0, 0))
    assert request.name == "left_click"


def test_a_point_is_read_in_all_three_spaces_and_the_action_has_the_native_one() -> None:
    data = {"action": "mouse_move", "coordinate": [500, 1001]}
    moved = action_request({**data, "coordinate_space": "normalized_1000"}, NATIVE)
    assert moved.action == MouseMove(Point(960, 1079), 0.0)
    assert moved.point == ActionPoint(Point(500, 999), Point(960, 1079), Point(640, 719))
    assert moved.clamped


@pytest.mark.parametrize(
    ("point", "clamped"),
    [((-2, -2), (0, 0)), ((1281, 721), (1279, 719)), ((1280, 5), (1279, 5)), ((7, 720), (7, 719))],
)
def test_a_point_just_outside_is_clamped(point: tuple[int, int], clamped: tuple[int, int]) -> None:
    clicked = action_request({**CLICK, "coordinate": [*point]}, NATIVE)
    assert clicked.clamped
    assert clicked.point is not None
    assert clicked.point.requested == clamped


@pytest.mark.parametrize("point", [[-3, 5], [5, -3], [1282, 5], [5, 722], [99_999, 99_999]])
@pytest.mark.parametrize(
    "rest",
    [
        {"action": "left_click"},
        {"action": "left_mouse_down"},
        {"action": "left_mouse_up"},
        {"action": "left_click_drag", "start_coordinate": [5, 5]},
    ],
)
def test_a_point_further_outside_is_refused_with_the_size(
    point: list[int], rest: dict[str, Any]
) -> None:
    error = refused({**rest, "coordinate": point})
    x, y = point
    assert error.message == f"({x}, {y}) is outside of the screenshot, which is 1280x720."
    assert error.detail == "x is from 0 to 1279, y from 0 to 719."


def test_every_point_of_a_path_and_of_a_grid_is_checked() -> None:
    path = {"action": "left_click_drag", "path": [[1, 1], [5000, 1], [2, 2]]}
    assert "(5000, 1) is outside" in refused(path).message
    grid = {**CLICK, "coordinate": [500, 1002], "coordinate_space": "normalized_1000"}
    assert "of the grid, which is 1000x1000" in refused(grid).message
    native = {**CLICK, "coordinate": [1921, 5], "coordinate_space": "native"}
    assert action_request(native, NATIVE).clamped


@pytest.mark.parametrize("action", ["type", "key", "key_down", "key_up", "hold_key"])
def test_keys_have_no_coordinate(action: str) -> None:
    error = refused({"action": action, "text": "a", "coordinate": [5, 5]})
    assert error.message == f'{action} takes no "coordinate".'
    assert error.detail == "Keys go to the widget with the keyboard: click it first."
    assert action_request({"action": action, "text": "a", "coordinate": None}, NATIVE).name


@pytest.mark.parametrize("action", ["wait", "screenshot", "cursor_position"])
def test_a_coordinate_that_would_be_passed_over_is_refused(action: str) -> None:
    error = refused({"action": action, "coordinate": [5, 5]})
    assert (error.message, error.detail) == (f'{action} takes no "coordinate".', "")


def test_an_action_without_a_point_has_none() -> None:
    request = action_request({"action": "wait", "duration_ms": None}, NATIVE)
    assert request.action == Wait(1.0)
    assert request.point is None
    assert request.text is None


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "Unknown action: "),
        ({"action": ""}, "Unknown action: "),
        ({"action": "dance"}, "Unknown action: dance"),
        ({"action": 5}, UNREADABLE),
        ({"action": "key"}, 'Missing "text" for key action.'),
        ({"action": "key", "text": ""}, 'Missing "text" for key action.'),
        ({"action": "type"}, 'Missing "text" for type action.'),
        ({"action": "left_click"}, 'Missing "coordinate" for left_click action.'),
        ({"action": "scroll", "coordinate": None}, 'Missing "coordinate" for scroll action.'),
        ({"action": "zoom"}, 'Missing "region" for zoom action.'),
        (
            {"action": "left_click_drag", "coordinate": [1, 1]},
            'Missing "coordinate" or "start_coordinate" for left_click_drag.',
        ),
        (
            {"action": "scroll", "coordinate": [1, 1], "scroll_direction": "north"},
            "Invalid scroll direction: north",
        ),
        ({"action": "key", "text": "ctrl+blah"}, "Unknown key: blah"),
        ({**CLICK, "zzz": 1}, 'Unknown field "zzz".'),
        ({**CLICK, "scaled_width": 800}, 'Give both "scaled_width" and "scaled_height"'),
        ({**CLICK, "scaled_height": 600}, 'Give both "scaled_width" and "scaled_height"'),
        ({**CLICK, "scaled_width": 15, "scaled_height": 600}, "from 16 to 1920"),
        ({**CLICK, "scaled_width": 800, "scaled_height": 1081}, "from 16 to 1080"),
        (
            {**CLICK, "scaled_width": 800, "scaled_height": 600, "coordinate_space": "model"},
            "not both",
        ),
        ({**CLICK, "coordinate_space": "scaled"}, "must be one of model, native, normalized_1000"),
        ({**CLICK, "observe": 1}, UNREADABLE),
        ({**CLICK, "observe": {"screnshot": True}}, 'Unknown field "screnshot".'),
        ({**CLICK, "observe": {"screenshot": "no"}}, UNREADABLE),
        ({**CLICK, "observe": {"settle": 5}}, UNREADABLE),
        ({**CLICK, "observe": {"settle": {"quiet_ms": 30_001}}}, "from 0 to 30000"),
        ({**CLICK, "observe": {"settle": {"max_ms": -1}}}, "from 0 to 30000"),
        ({**CLICK, "observe": {"settle": {"ignore": [[0]] * 101}}}, "0 to 100 items"),
        ({**CLICK, "observe": {"settle": {"ignore": [[0]]}}}, UNREADABLE),
    ],
)
def test_a_bad_request_is_refused_with_the_reason(data: dict[str, Any], message: str) -> None:
    assert message in refused(data).message


def test_the_error_of_a_misspelt_field_has_its_spelling() -> None:
    assert refused({**CLICK, "coordinate_spce": "native"}).detail == (
        'Did you mean "coordinate_space"?'
    )


def test_an_empty_text_can_be_typed() -> None:
    assert action_request({"action": "type", "text": ""}, NATIVE).text == ""


def test_fields_of_other_actions_are_passed_over() -> None:
    assert action_request({**CLICK, "scroll_direction": "north"}, NATIVE).name == "left_click"


@pytest.mark.parametrize("field", [{"scroll_direction": 5}, {"duration": "1"}, {"path": [1, 2]}])
def test_fields_of_other_actions_are_of_their_kind_all_the_same(field: dict[str, Any]) -> None:
    assert refused({**CLICK, **field}).message == UNREADABLE


@pytest.mark.parametrize(
    ("given_space", "name", "size", "picture"),
    [
        ({}, "model", (1280, 720), (1280, 720)),
        ({"coordinate_space": "model"}, "model", (1280, 720), (1280, 720)),
        ({"coordinate_space": "native"}, "native", (1920, 1080), (1920, 1080)),
        ({"coordinate_space": "normalized_1000"}, "normalized_1000", (1000, 1000), (1280, 720)),
        ({"scaled_width": 1440, "scaled_height": 900}, "scaled", (1440, 900), (1440, 900)),
        ({"scaled_width": None, "scaled_height": None}, "model", (1280, 720), (1280, 720)),
    ],
)
def test_a_request_names_its_coordinate_space(
    given_space: dict[str, Any], name: str, size: tuple[int, int], picture: tuple[int, int]
) -> None:
    space = action_request({**CLICK, **given_space}, NATIVE).space
    assert (space.name, space.size, space.picture) == (name, size, picture)


@pytest.mark.parametrize("nothing", [None, False])
def test_nothing_is_observed_unless_asked_for(nothing: object) -> None:
    assert action_request({**CLICK, "observe": nothing}, NATIVE).observe is None


@pytest.mark.parametrize(
    "asked", [True, {}, {"screenshot": True, "settle": {}}, {"settle": True, "screenshot": None}]
)
def test_observing_has_usable_defaults(asked: object) -> None:
    request = action_request({**CLICK, "observe": asked}, NATIVE)
    assert request.observe == Observe(True, SettleRule(), PictureOptions())


def test_observing_can_be_requested_in_detail() -> None:
    settle = {"quiet_ms": 50, "max_ms": 500, "ignore": [[0, 0, 100, 100]]}
    asked = {"screenshot": False, "settle": settle, "format": "webp"}
    request = action_request({**CLICK, "observe": asked}, NATIVE)
    rule = SettleRule(quiet=0.05, small_quiet=0.05, longest=0.5, ignore=(Region(0, 0, 150, 150),))
    assert request.observe == Observe(False, rule, PictureOptions("webp"))


def test_a_longer_rest_that_is_asked_for_is_waited_for_where_nothing_changes_too() -> None:
    request = action_request({**CLICK, "observe": {"settle": {"quiet_ms": 700}}}, NATIVE)
    assert request.observe is not None
    assert request.observe.settle == SettleRule(quiet=0.7, small_quiet=0.7, grace=0.7)


def test_settling_can_be_left_out() -> None:
    request = action_request({**CLICK, "observe": {"settle": False}}, NATIVE)
    assert request.observe is not None
    assert request.observe.settle is None


def test_a_batch_keeps_the_order_of_its_actions() -> None:
    batch = batch_request({"actions": [CLICK, {"action": "wait"}], "observe": True}, NATIVE)
    assert [request.name for request in batch.actions] == ["left_click", "wait"]
    assert batch.observe == Observe(True, SettleRule(), PictureOptions())


def test_actions_of_a_batch_are_in_its_pixels_unless_they_name_others() -> None:
    own = {**CLICK, "scaled_width": 640, "scaled_height": 360}
    batch = batch_request({"actions": [CLICK, own], "coordinate_space": "native"}, NATIVE)
    assert [request.space.name for request in batch.actions] == ["native", "scaled"]
    assert batch.space.name == "native"


@pytest.mark.parametrize(
    ("data", "message", "where"),
    [
        ({}, 'Missing "actions".', ""),
        ({"actions": {}}, UNREADABLE, ""),
        ({"actions": []}, "1 to 100 items", ""),
        ({"actions": [CLICK] * 101}, "1 to 100 items", ""),
        ({"actions": [CLICK], "action": "wait"}, 'Unknown field "action".', ""),
        ({"actions": [CLICK, 5]}, UNREADABLE, "In actions[1]."),
        ({"actions": [CLICK, {"action": "dance"}]}, "Unknown action: dance", "In actions[1]."),
        ({"actions": [{**CLICK, "observe": True}]}, "belongs to the batch", "In actions[0]."),
    ],
)
def test_a_bad_batch_is_refused_as_a_whole(data: dict[str, Any], message: str, where: str) -> None:
    with pytest.raises(InvalidAction) as caught:
        batch_request(data, NATIVE)
    assert message in caught.value.message
    assert caught.value.detail.startswith(where)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
names = st.sampled_from([*FIELDS, "observe", "coordinate_space", "scaled_width", "scaled_height"])


@given(st.sampled_from(sorted(ACTIONS)), st.dictionaries(names, anything, max_size=4))
def test_any_request_is_read_or_refused(action: str, fields: dict[str, Any]) -> None:
    try:
        body = json.dumps({"action": action, **fields}).encode()
        request = action_request(decode(body), NATIVE)
    except InvalidAction:
        return
    assert request.name == action


def test_a_picture_is_taken_as_the_request_or_its_observation_wants_it() -> None:
    usual = picture_of(action_request(CLICK, NATIVE), NATIVE)
    assert (usual.size, usual.region, usual.options.format) == (Size(1280, 720), None, "png")
    own = {"action": "zoom", "region": [0, 0, 64, 36], "format": "webp"}
    wanted = picture_of(action_request(own, NATIVE), NATIVE)
    assert (wanted.region is not None, wanted.options.format) == (True, "webp")
    seen = {**CLICK, "observe": {"format": "jpeg"}}
    assert picture_of(action_request(seen, NATIVE), NATIVE).options.format == "jpeg"


def test_a_text_may_name_the_hosts_of_the_pages_that_it_is_for() -> None:
    typing = {"action": "type", "text": "x"}
    assert action_request(typing, NATIVE).action.hosts == ()  # type: ignore[union-attr]
    bound = action_request({**typing, "hosts": ["mail.example", "localhost"]}, NATIVE)
    assert bound.action.hosts == ("mail.example", "localhost")  # type: ignore[union-attr]
    assert not bound.action.any_field  # type: ignore[union-attr]
    every = {**typing, "hosts": ["mail.example"], "any_field": True}
    assert action_request(every, NATIVE).action.any_field  # type: ignore[union-attr]
    refused({**every, "any_field": "yes"})
    refused({**typing, "any_field": True})
    for wrong in ([], "mail.example", ["https://mail.example"], [7], ["a"] * 17):
        refused({**typing, "hosts": wrong})
