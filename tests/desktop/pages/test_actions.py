"""Actions of the desktop for members that are input."""

from typing import Any

import pytest

from deskhand.desktop.geometry import Point
from deskhand.desktop.pages.actions import desktop_actions, sentence
from deskhand.desktop.pages.members import BrowserCall

Json = dict[str, Any]
AT = {"target": Point(5, 6)}
NATIVE = {"coordinate_space": "native"}


@pytest.mark.parametrize(
    ("name", "fields", "actions"),
    [
        ("left_click", {}, [{"action": "left_click", "coordinate": [5, 6], **NATIVE}]),
        (
            "double_click",
            {"modifiers": "ctrl"},
            [{"action": "double_click", "coordinate": [5, 6], "text": "ctrl", **NATIVE}],
        ),
        ("hover", {}, [{"action": "mouse_move", "coordinate": [5, 6], **NATIVE}]),
        (
            "left_mouse_down",
            {},
            [
                {"action": "mouse_move", "coordinate": [5, 6], **NATIVE},
                {"action": "left_mouse_down"},
            ],
        ),
        (
            "scroll",
            {"scroll_direction": "down"},
            [
                {
                    "action": "scroll",
                    "coordinate": [5, 6],
                    "scroll_direction": "down",
                    "scroll_amount": 3,
                    **NATIVE,
                }
            ],
        ),
        ("key", {"text": "a", "repeat": 2}, [{"action": "key", "text": "a a"}]),
        ("type", {"text": "x"}, [{"action": "type", "text": "x"}]),
        ("wait", {"duration": 2}, [{"action": "wait", "duration": 2}]),
    ],
)
def test_a_member_is_these_actions(name: str, fields: Json, actions: list[Json]) -> None:
    assert desktop_actions(BrowserCall(name, fields), AT) == actions


@pytest.mark.parametrize("name", ["left_mouse_down", "left_mouse_up"])
def test_without_a_point_a_button_acts_where_the_pointer_is(name: str) -> None:
    assert desktop_actions(BrowserCall(name, {}), {}) == [{"action": name}]


def test_a_drag_has_two_points() -> None:
    (action,) = desktop_actions(BrowserCall("left_click_drag", {}), {**AT, "from": Point(1, 2)})
    assert (action["start_coordinate"], action["coordinate"]) == ([1, 2], [5, 6])


@pytest.mark.parametrize(
    ("name", "fields", "fraction", "text"),
    [
        ("left_click", {}, 0.5, "Clicked. 50 % of the screen changed."),
        ("type", {}, 0.001, "Typed. Less than 1 % of the screen changed."),
        ("key", {"text": "a"}, 0, "Pressed a. Nothing of the screen changed."),
        ("scroll", {"scroll_direction": "up"}, None, "Scrolled up."),
        ("hold_key", {"text": "a", "duration": 1}, None, "Held a for 1 s."),
        ("wait", {"duration": 1.5}, 0.5, "Waited 1.5 s."),
    ],
)
def test_the_answer_says_what_was_done(
    name: str, fields: Json, fraction: float | None, text: str
) -> None:
    assert sentence(BrowserCall(name, fields), {"changed_fraction": fraction}) == text
