from typing import Any

import pytest

from deskhand.desktop.actions.requests import action_request
from deskhand.desktop.errors import BadField
from deskhand.desktop.geometry import Size
from deskhand.tools.agents.scripted.anthropic.protocol import MEMBERS as PROTOCOL_MEMBERS
from deskhand.tools.kit.support.computer_calls import MEMBERS, REFUSED, desktop_call, distance_of

Json = dict[str, Any]

SETTLE = {"quiet_ms": 100, "max_ms": 3000}
OBSERVE = {"screenshot": True, "settle": SETTLE}
AT = {"coordinate": [640, 360]}

GOOD: list[tuple[str, Json, Json]] = [
    ("left_click", AT, AT),
    ("left_click", {**AT, "text": "ctrl+shift"}, {**AT, "text": "ctrl+shift"}),
    ("left_click", {**AT, "text": None}, AT),
    ("left_click", {"coordinate": [0, 0]}, {"coordinate": [0, 0]}),
    ("left_click", {"coordinate": [1.9, 2.0]}, {"coordinate": [1, 2]}),
    ("right_click", AT, AT),
    ("middle_click", AT, AT),
    ("double_click", AT, AT),
    ("triple_click", AT, AT),
    ("mouse_move", AT, AT),
    ("left_mouse_down", {}, {}),
    ("left_mouse_up", {}, {}),
    ("left_mouse_down", AT, AT),
    ("left_mouse_up", AT, AT),
    (
        "left_click_drag",
        {"start_coordinate": [1, 2], **AT},
        {"start_coordinate": [1, 2], **AT},
    ),
    (
        "scroll",
        {**AT, "scroll_direction": "left", "scroll_amount": 5.0},
        {**AT, "scroll_direction": "left", "scroll_amount": 5},
    ),
    ("scroll", {**AT, "scroll_x": 5.5, "scroll_y": -3}, {**AT, "scroll_x": 5, "scroll_y": -3}),
    ("type", {"text": "Grüezi\n"}, {"text": "Grüezi\n"}),
    ("key", {"text": "ctrl+s"}, {"text": "ctrl+s"}),
    ("key", {"text": "Down", "repeat": 3}, {"text": "Down Down Down"}),
    ("hold_key", {"text": "a", "duration": 2}, {"text": "a", "duration": 2}),
    ("key_down", {"text": "shift"}, {"text": "shift"}),
    ("key_up", {"text": "shift"}, {"text": "shift"}),
    ("wait", {"duration": 1.5}, {"duration": 1.5}),
]


@pytest.mark.parametrize(("member", "arguments", "fields"), GOOD)
def test_actions_are_observed_after_the_screen_has_settled(
    member: str, arguments: Json, fields: Json
) -> None:
    call = desktop_call(member, arguments)
    assert call.payload == {"action": member, **fields, "observe": OBSERVE}
    assert (call.kind, call.needs_pointer) == ("action", False)
    assert call.text.endswith(".")


@pytest.mark.parametrize(("member", "arguments", "fields"), GOOD)
def test_the_desktop_service_takes_what_is_sent(member: str, arguments: Json, fields: Json) -> None:
    request = action_request(desktop_call(member, arguments).payload, Size(1920, 1080))
    assert request.name == member


def test_a_screenshot_is_no_action() -> None:
    assert desktop_call("screenshot", {}).payload == {"action": "screenshot"}
    zoom = desktop_call("zoom", {"region": [0, 0, 100, 50]})
    assert (zoom.payload, zoom.kind) == ({"action": "zoom", "region": [0, 0, 100, 50]}, "picture")
    assert desktop_call("cursor_position", {}).kind == "position"
    for payload in (zoom.payload, {"action": "cursor_position"}, {"action": "screenshot"}):
        action_request(payload, Size(1920, 1080))


@pytest.mark.parametrize("member", ["left_click", "triple_click", "scroll"])
def test_without_a_point_the_position_of_the_pointer_is_needed(member: str) -> None:
    given = {"scroll_direction": "up", "scroll_amount": 1} if member == "scroll" else {}
    assert desktop_call(member, given).needs_pointer


def test_waiting_and_holding_have_a_duration() -> None:
    assert desktop_call("wait", {"duration": 30}).seconds == 30
    assert desktop_call("hold_key", {"text": "a", "duration": 2}).seconds == 2
    assert "3 times" in desktop_call("key", {"text": "Down", "repeat": 3}).text


@pytest.mark.parametrize(
    ("member", "arguments", "word"),
    [
        ("dance", {}, "no computer action 'dance'"),
        ("screenshot", {"size": 3}, "screenshot: unknown argument size: none is known"),
        ("mouse_move", {}, "mouse_move: coordinate is required"),
        ("mouse_move", {"coordinate": None}, "mouse_move: coordinate is required"),
        ("left_click", {"coordinate": [1]}, r"\[x, y\]"),
        ("left_click", {"coordinate": "middle"}, r"\[x, y\]"),
        ("left_click", {"coordinate": [1, "2"]}, r"\[x, y\]"),
        ("left_click", {"coordinate": [1, True]}, r"\[x, y\]"),
        ("left_click", {"coordinate": [1, float("nan")]}, r"\[x, y\]"),
        ("zoom", {"region": [1, 2]}, "x0, y0, x1, y1"),
        ("type", {"text": ""}, "text"),
        ("type", {"text": 5}, "text"),
        ("wait", {"duration": 101}, "0 to 100"),
        ("wait", {"duration": "1"}, "0 to 100"),
        ("wait", {"duration": True}, "0 to 100"),
        ("key", {"text": "a", "repeat": 0}, "1 to 100"),
        ("scroll", {"scroll_direction": "in", "scroll_amount": 1}, "up, down, left, right"),
        ("scroll", {"scroll_direction": "up"}, "scroll_amount is required"),
        ("scroll", {}, "scroll_direction is required"),
        ("scroll", {"scroll_y": 10_001}, "scroll_y must be"),
    ],
)
def test_wrong_input_is_an_error_for_the_model(member: str, arguments: Json, word: str) -> None:
    with pytest.raises(BadField, match=word):
        desktop_call(member, arguments)


# Of the actions and functions of other providers.
OTHER_MEMBERS = {"key_down", "key_up", "drag_path", "back_click", "forward_click"}


def test_every_member_of_the_toolset_is_served() -> None:
    assert set(MEMBERS) == PROTOCOL_MEMBERS | OTHER_MEMBERS


def test_a_drag_may_have_a_path() -> None:
    wanted = desktop_call("drag_path", {"path": [[1, 2], [3, 4.5], [5, 6]], "text": "shift"})
    assert wanted.payload["action"] == "left_click_drag"
    assert wanted.payload["path"] == [[1, 2], [3, 4], [5, 6]]
    for path in ([[1, 2]], "x", [[1, 2], [3]]):
        with pytest.raises(BadField):
            desktop_call("drag_path", {"path": path})


def test_an_action_without_a_picture_still_waits_for_the_screen_to_settle() -> None:
    wanted = desktop_call("left_click", AT).without_picture()
    assert wanted.payload["observe"] == {"screenshot": False, "settle": SETTLE}


def test_a_screenshot_cannot_do_without_its_picture() -> None:
    wanted = desktop_call("screenshot", {})
    assert wanted.without_picture() == wanted


def test_an_action_without_settling_answers_at_once() -> None:
    wanted = desktop_call("left_click", AT).without_picture().without_settling()
    assert wanted.payload["observe"] == {"screenshot": False, "settle": False}
    picture = desktop_call("screenshot", {})
    assert picture.without_settling() == picture


@pytest.mark.parametrize(
    ("member", "arguments", "sentence"),
    [
        (REFUSED, {"problem": "no such key"}, "no such key"),
        ("left_click", [1, 2], "left_click: the input must be an object"),
    ],
)
def test_an_input_that_is_no_object_or_was_refused_is_named(
    member: str, arguments: object, sentence: str
) -> None:
    with pytest.raises(BadField) as refused:
        desktop_call(member, arguments)
    assert sentence in refused.value.sentence


@pytest.mark.parametrize(
    ("scroll", "found"),
    [
        ({"scroll_direction": "left", "scroll_amount": 2.0}, ("left", 160)),
        ({}, ("down", 80)),
        ({"scroll_x": 5, "scroll_y": None}, ("right", 5)),
        ({"scroll_x": -5, "scroll_y": 3}, ("left", 5)),
        ({"scroll_x": -5, "scroll_y": 7}, ("down", 7)),
        ({"scroll_y": -7}, ("up", 7)),
    ],
)
def test_a_scroll_has_a_direction_and_a_distance(scroll: Json, found: tuple[str, int]) -> None:
    assert distance_of(scroll) == found
