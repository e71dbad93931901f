from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.desktop.errors import BadField
from deskhand.tools.agents.providers.gemini.functions import (
    FUNCTIONS,
    OLD_FUNCTIONS,
    FunctionCall,
    MemberCall,
    function_of,
    members_of,
)
from deskhand.tools.kit.support.computer_calls import desktop_call

Json = dict[str, Any]
SIZE = (1280, 720)
AT: Json = {"x": 500, "y": 100}
POINT: Json = {"coordinate": [640, 72]}
MEANT: Json = {"intent": "Open the menu", "safety_decision": {"decision": "regular"}}


def one(member: str, **arguments: Any) -> list[tuple[str, Json]]:
    return [(member, arguments)]


GOOD: list[tuple[str, Json, list[tuple[str, Json]]]] = [
    ("click", {**AT, **MEANT}, one("left_click", **POINT)),
    ("click", {"x": 999, "y": 0}, one("left_click", coordinate=[1278, 0])),
    ("double_click", AT, one("double_click", **POINT)),
    ("triple_click", AT, one("triple_click", **POINT)),
    ("middle_click", AT, one("middle_click", **POINT)),
    ("right_click", AT, one("right_click", **POINT)),
    ("mouse_down", AT, one("left_mouse_down", **POINT)),
    ("mouse_up", {}, one("left_mouse_up")),
    ("move", AT, one("mouse_move", **POINT)),
    ("type", {"text": "a", "press_enter": True}, one("type", text="a\n")),
    ("type", {"text": "a"}, one("type", text="a")),
    (
        "drag_and_drop",
        {**AT, "destination_x": 0, "destination_y": 999},
        one("left_click_drag", start_coordinate=[640, 72], coordinate=[0, 719]),
    ),
    ("wait", {"seconds": 3}, one("wait", duration=3)),
    ("wait", {"seconds": 1000}, one("wait", duration=100)),
    ("wait", {}, one("wait", duration=1)),
    ("press_key", {"key": "Enter"}, one("key", text="Enter")),
    ("key_down", {"key": "shift"}, one("key_down", text="shift")),
    ("key_up", {"key": "shift"}, one("key_up", text="shift")),
    ("hotkey", {"keys": ["ctrl", "c"]}, one("key", text="ctrl+c")),
    ("hotkey", {"keys": "ctrl+c"}, one("key", text="ctrl+c")),
    ("take_screenshot", {}, one("screenshot")),
    (
        "scroll",
        {**AT, "direction": "down", "magnitude": 500},
        one("scroll", **POINT, scroll_y=360),
    ),
    (
        "scroll",
        {**AT, "direction": "right", "magnitude": 1},
        one("scroll", **POINT, scroll_x=1),
    ),
    ("go_back", {}, one("key", text="alt+Left")),
    ("go_forward", {}, one("key", text="alt+Right")),
    (
        "navigate",
        {"url": "http://a.test/"},
        [("key", {"text": "ctrl+l"}), ("type", {"text": "http://a.test/\n"})],
    ),
    ("open_web_browser", {}, one("screenshot")),
    ("click_at", AT, one("left_click", **POINT)),
    ("hover_at", AT, one("mouse_move", **POINT)),
    (
        "type_text_at",
        {**AT, "text": "a"},
        [
            ("left_click", POINT),
            ("key", {"text": "ctrl+a"}),
            ("key", {"text": "Delete"}),
            ("type", {"text": "a\n"}),
        ],
    ),
    (
        "type_text_at",
        {**AT, "text": "a", "press_enter": False, "clear_before_typing": False},
        [("left_click", POINT), ("type", {"text": "a"})],
    ),
    (
        "scroll_document",
        {"direction": "up"},
        one("scroll", coordinate=[640, 360], scroll_y=-576),
    ),
    (
        "scroll_at",
        {**AT, "direction": "left", "magnitude": 100},
        one("scroll", **POINT, scroll_x=-128),
    ),
    ("wait_5_seconds", {}, one("wait", duration=5)),
    (
        "search",
        {},
        [("key", {"text": "ctrl+l"}), ("type", {"text": "https://www.google.com\n"})],
    ),
    ("key_combination", {"keys": "control+c"}, one("key", text="control+c")),
]


@pytest.mark.parametrize(("name", "arguments", "members"), GOOD)
def test_a_function_is_members_of_the_computer_toolset(
    name: str, arguments: Json, members: list[tuple[str, Json]]
) -> None:
    found = members_of(name, arguments, SIZE)
    assert [(call.member, call.arguments) for call in found] == members
    for call in found:
        desktop_call(call.member, call.arguments)


def test_every_function_is_tested() -> None:
    assert {name for name, _, _ in GOOD} == {*FUNCTIONS, *OLD_FUNCTIONS}


def test_a_function_that_is_not_predefined_has_no_members() -> None:
    assert members_of("execute", {"x": 1}, SIZE) == ()


@pytest.mark.parametrize(
    ("name", "arguments", "problem"),
    [
        ("click", {"x": "left", "y": 5}, "coordinate must be"),
        ("click", {"x": 5}, "click: y is required"),
        ("click", {**AT, "button": "right"}, "click: unknown argument button"),
        ("move", {}, "move: x is required"),
        ("type", {"text": 5}, "text must be a text"),
        ("navigate", {"url": None}, "navigate: url is required"),
        ("navigate", {"address": "a.test"}, "unknown argument address"),
        ("type_text_at", AT, "text is required"),
        ("type_text_at", {**AT, "text": 5}, "text must be a text"),
        ("navigate", {"url": 5}, "text must be a text"),
        ("wait", {"seconds": "two"}, "duration must be"),
        ("scroll", {"direction": "round"}, "scroll_direction must be one of"),
        ("scroll", {"direction": ["up"]}, "scroll_direction must be"),
        ("scroll", {"magnitude": 5}, "direction is required"),
        ("scroll", {"direction": "up", "magnitude": "much"}, "scroll_amount must be"),
        ("press_key", {}, "key is required"),
        ("press_key", {"key": ""}, "text must be a text"),
        ("drag_and_drop", {"x": 1, "y": 1}, "destination_x is required"),
        ("click", {"x": float("inf"), "y": 5}, "coordinate must be"),
    ],
)
def test_a_wrong_argument_keeps_all_members_from_running(
    name: str, arguments: Json, problem: str
) -> None:
    (only,) = members_of(name, arguments, SIZE)
    with pytest.raises(BadField, match=problem):
        desktop_call(only.member, only.arguments)


@pytest.mark.parametrize(
    ("member", "arguments", "function"),
    [
        ("left_click", POINT, FunctionCall("click", AT)),
        ("left_click", {}, FunctionCall("click", {})),
        ("left_mouse_down", {}, FunctionCall("mouse_down", {})),
        ("mouse_move", {"coordinate": ["a", 1]}, FunctionCall("move", {})),
        (
            "left_click_drag",
            {"start_coordinate": [640, 72], "coordinate": [0, 0]},
            FunctionCall("drag_and_drop", {**AT, "destination_x": 0, "destination_y": 0}),
        ),
        (
            "scroll",
            {**POINT, "scroll_direction": "right", "scroll_amount": 1},
            FunctionCall("scroll", {**AT, "direction": "right", "magnitude": 63}),
        ),
        (
            "scroll",
            {"scroll_x": 64, "scroll_y": -360},
            FunctionCall("scroll", {"direction": "up", "magnitude": 500}),
        ),
        ("scroll", {}, FunctionCall("scroll", {"direction": "down", "magnitude": 112})),
        ("type", {"text": "a"}, FunctionCall("type", {"text": "a"})),
        ("key", {"text": "Down", "repeat": 2}, FunctionCall("press_key", {"key": "Down Down"})),
        ("key", {"text": "+"}, FunctionCall("press_key", {"key": "+"})),
        ("key", {"text": "ctrl+c"}, FunctionCall("hotkey", {"keys": ["ctrl", "c"]})),
        ("key_up", {"text": "shift"}, FunctionCall("key_up", {"key": "shift"})),
        ("wait", {"duration": 2}, FunctionCall("wait", {"seconds": 2})),
        ("zoom", {"region": [0, 0, 1, 1]}, FunctionCall("take_screenshot", {})),
    ],
)
def test_a_member_has_a_function(member: str, arguments: Json, function: FunctionCall) -> None:
    assert function_of(member, arguments, SIZE) == function


@given(
    *(st.integers(0, 999), st.integers(0, 719), st.integers(1, 719)),
    st.sampled_from(["scroll_x", "scroll_y"]),
    st.sampled_from([1, -1]),
)
def test_members_come_back_from_their_functions(
    x: int, y: int, pixels: int, way: str, sign: int
) -> None:
    size = (1000, 720)
    turn = {"coordinate": [x, y], way: sign * pixels}
    for member, arguments in (("left_click", {"coordinate": [x, y]}), ("scroll", turn)):
        function = function_of(member, arguments, size)
        assert members_of(function.name, function.arguments, size) == (
            MemberCall(member, arguments),
        )
