from typing import Any

import pytest

from deskhand.desktop.actions.catalog import (
    ACTIONS,
    ButtonDown,
    ButtonUp,
    Click,
    CursorPosition,
    Drag,
    HoldKey,
    Key,
    KeyDown,
    KeyUp,
    MouseMove,
    Screenshot,
    Scroll,
    Type,
    Wait,
    output,
    picture_options,
)
from deskhand.desktop.actions.fields import FIELDS
from deskhand.desktop.errors import InvalidAction
from deskhand.desktop.geometry import Point, Region
from deskhand.desktop.input.keys import chord
from deskhand.desktop.input.keysyms import KEYSYMS
from deskhand.desktop.screenshots.options import PictureOptions

AT = Point(5, 6)
CTRL, SHIFT = KEYSYMS["Control_L"], KEYSYMS["Shift_L"]


def build(name: str, **values: Any) -> Any:
    return ACTIONS[name].build(values)


def test_every_field_of_the_table_is_known() -> None:
    for kind in ACTIONS.values():
        assert {*kind.needs, *kind.takes} <= set(FIELDS)
        assert kind.summary.endswith(".")
        assert kind.failed.endswith(" failed.")


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("key", {"text": "ctrl+s"}, Key((chord("ctrl+s"),))),
        ("type", {"text": "ab"}, Type((ord("a"), ord("b")), 0.0)),
        ("type", {"text": "a", "delay_ms": 20}, Type((ord("a"),), 0.02)),
        ("key_down", {"text": "shift"}, KeyDown(chord("shift"))),
        ("key_up", {"text": "shift"}, KeyUp(chord("shift"))),
        ("hold_key", {"text": "ctrl+a"}, HoldKey(chord("ctrl+a"), 1.0)),
        ("hold_key", {"text": "a", "duration_ms": 0.25}, HoldKey(chord("a"), 0.25)),
        ("mouse_move", {"coordinate": AT}, MouseMove(AT, 0.0)),
        ("mouse_move", {"coordinate": AT, "duration": 0.5}, MouseMove(AT, 0.5)),
        ("left_click", {"coordinate": AT}, Click(AT, 1, 1, ())),
        ("middle_click", {"coordinate": AT}, Click(AT, 2, 1, ())),
        ("right_click", {"coordinate": AT}, Click(AT, 3, 1, ())),
        ("back_click", {"coordinate": AT}, Click(AT, 8, 1, ())),
        ("forward_click", {"coordinate": AT}, Click(AT, 9, 1, ())),
        ("double_click", {"coordinate": AT}, Click(AT, 1, 2, ())),
        ("triple_click", {"coordinate": AT}, Click(AT, 1, 3, ())),
        ("left_click", {"coordinate": AT, "text": "ctrl"}, Click(AT, 1, 1, (CTRL,))),
        ("left_click", {"coordinate": AT, "text": ""}, Click(AT, 1, 1, ())),
        (
            "left_click",
            {"coordinate": AT, "text": "ctrl+shift", "modifiers": ("shift",)},
            Click(AT, 1, 1, (CTRL, SHIFT)),
        ),
        ("left_mouse_down", {}, ButtonDown(1)),
        ("left_mouse_up", {}, ButtonUp(1)),
        ("right_mouse_down", {}, ButtonDown(3)),
        ("middle_mouse_up", {}, ButtonUp(2)),
        (
            "left_click_drag",
            {"start_coordinate": Point(0, 0), "coordinate": AT},
            Drag((Point(0, 0), AT), 0.2, ()),
        ),
        (
            "left_click_drag",
            {"path": (AT, Point(1, 1), AT), "duration": 2.0, "text": "shift"},
            Drag((AT, Point(1, 1), AT), 2.0, (SHIFT,)),
        ),
        ("scroll", {"coordinate": AT}, Scroll(AT, 0, 3, ())),
        (
            "scroll",
            {"coordinate": AT, "scroll_direction": "left", "scroll_amount": 0, "text": "ctrl"},
            Scroll(AT, 0, 0, (CTRL,)),
        ),
        (
            "scroll",
            {"coordinate": AT, "scroll_direction": "left", "scroll_amount": 2},
            Scroll(AT, -2, 0, ()),
        ),
        ("scroll", {"coordinate": AT, "scroll_pixels": 106}, Scroll(AT, 0, 106, (), True)),
        ("scroll", {"coordinate": AT, "scroll_x": -5}, Scroll(AT, -5, 0, (), True)),
        ("scroll", {"coordinate": AT, "scroll_x": 5, "scroll_y": 7}, Scroll(AT, 5, 7, (), True)),
        ("cursor_position", {}, CursorPosition()),
        ("screenshot", {}, Screenshot(None, PictureOptions())),
        (
            "zoom",
            {"region": Region(1, 2, 3, 4), "format": "jpeg", "quality": 50},
            Screenshot(Region(1, 2, 3, 4), PictureOptions("jpeg", 50)),
        ),
        (
            "left_click_drag",
            {"path": (AT, AT), "button": "right", "duration": 0.0},
            Drag((AT, AT), 0.0, (), 3),
        ),
        ("triple_click", {"coordinate": AT, "button": "back"}, Click(AT, 8, 3, ())),
        ("left_mouse_down", {"coordinate": AT}, ButtonDown(1, AT)),
        ("middle_mouse_up", {"coordinate": AT}, ButtonUp(2, AT)),
        ("wait", {}, Wait(1.0)),
        ("wait", {"duration": 0.0}, Wait(0.0)),
    ],
)
def test_an_action_is_built_from_its_fields(
    name: str, values: dict[str, Any], expected: object
) -> None:
    assert build(name, **values) == expected


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("wait", {"duration": 1.0, "duration_ms": 1.0}, "not both"),
        ("left_click_drag", {"coordinate": AT}, 'Missing "coordinate" or "start_coordinate"'),
        ("left_click_drag", {"start_coordinate": AT}, "for left_click_drag."),
        ("left_click_drag", {"path": (AT, AT), "coordinate": AT}, "not both"),
        ("left_click_drag", {"path": (AT, AT), "start_coordinate": AT}, "not both"),
        ("scroll", {"coordinate": AT, "scroll_amount": 1, "scroll_pixels": 1}, "not both"),
        ("scroll", {"coordinate": AT, "scroll_amount": 1, "scroll_y": 1}, "not both"),
        ("scroll", {"coordinate": AT, "scroll_direction": "up", "scroll_x": 1}, "not both"),
        ("type", {"text": "x" * 1001, "delay_ms": 100}, "more than 100 seconds"),
        ("type", {"text": "x", "any_field": True}, '"any_field" is for a text with "hosts"'),
        ("left_click", {"coordinate": AT, "modifiers": ("nokey",)}, "Unknown key: nokey"),
    ],
)
def test_fields_that_do_not_go_together_are_refused(
    name: str, values: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidAction, match=message):
        build(name, **values)


def test_absent_options_of_a_picture_have_defaults() -> None:
    assert picture_options({"cursor": False, "since": "b-1"}) == PictureOptions(
        "png", 85, False, "b-1"
    )


def test_an_action_describes_that_it_was_performed() -> None:
    assert output("left_click") == "left_click action performed"
    assert output("screenshot") == "screenshot"
