from typing import Any

import pytest

from deskhand.desktop.errors import BadField
from deskhand.tools.agents.providers.openai.actions import calls_of
from deskhand.tools.conversation.conversation import SafetyCheck
from deskhand.tools.kit.support.computer_calls import desktop_call

Json = dict[str, Any]


def item(*actions: Json, **more: Any) -> Json:
    return {"type": "computer_call", "call_id": "c", "actions": list(actions), **more}


@pytest.mark.parametrize(
    ("action", "name", "arguments"),
    [
        ({"type": "click", "button": "left", "x": 1, "y": 2}, "left_click", {"coordinate": [1, 2]}),
        (
            {"type": "click", "button": "right", "x": 1, "y": 2, "keys": ["CTRL", "SHIFT"]},
            "right_click",
            {"coordinate": [1, 2], "text": "CTRL+SHIFT"},
        ),
        (
            {"type": "click", "button": "wheel", "x": 1, "y": 2, "keys": None},
            "middle_click",
            {"coordinate": [1, 2]},
        ),
        ({"type": "click", "button": "back", "x": 1, "y": 2}, "back_click", {"coordinate": [1, 2]}),
        (
            {"type": "click", "button": "forward", "x": 1, "y": 2},
            "forward_click",
            {"coordinate": [1, 2]},
        ),
        (
            {"type": "double_click", "x": 1, "y": 2, "keys": ["ALT"]},
            "double_click",
            {"coordinate": [1, 2], "text": "ALT"},
        ),
        (
            {"type": "drag", "path": [{"x": 1, "y": 2}, {"x": 3, "y": 4}], "keys": ["SHIFT"]},
            "left_click_drag",
            {"start_coordinate": [1, 2], "coordinate": [3, 4], "text": "SHIFT"},
        ),
        (
            {"type": "drag", "path": [{"x": 1, "y": 2}, {"x": 3, "y": 4}, {"x": 5, "y": 6}]},
            "drag_path",
            {"path": [[1, 2], [3, 4], [5, 6]]},
        ),
        ({"type": "keypress", "keys": ["CTRL", "C"]}, "key", {"text": "CTRL+C"}),
        ({"type": "move", "x": 1, "y": 2, "keys": ["ALT"]}, "mouse_move", {"coordinate": [1, 2]}),
        ({"type": "screenshot"}, "screenshot", {}),
        ({"type": "type", "text": "hi"}, "type", {"text": "hi"}),
        ({"type": "wait"}, "wait", {"duration": 1}),
        (
            {"type": "scroll", "x": 1, "y": 2, "scroll_x": 0, "scroll_y": 300},
            "scroll",
            {"scroll_x": 0, "scroll_y": 300, "coordinate": [1, 2]},
        ),
        (
            {"type": "scroll", "x": 1, "y": 2, "scroll_x": -40, "scroll_y": 0},
            "scroll",
            {"scroll_x": -40, "scroll_y": 0, "coordinate": [1, 2]},
        ),
        (
            {"type": "scroll", "x": 1, "y": 2, "scroll_x": 0, "scroll_y": 0},
            "scroll",
            {"scroll_x": 0, "scroll_y": 0, "coordinate": [1, 2]},
        ),
    ],
)
def test_each_action_is_a_call_that_the_computer_tool_accepts(
    action: Json, name: str, arguments: Json
) -> None:
    (call,) = calls_of(item(action))
    assert (call.id, call.name, call.arguments) == ("c-0", name, arguments)
    assert call.toolset == "computer"
    desktop_call(call.name, call.arguments)


def test_a_scroll_in_both_directions_is_one_call() -> None:
    scroll = {"type": "scroll", "x": 1, "y": 2, "scroll_x": 200, "scroll_y": -100}
    turned, waited = calls_of(item(scroll, {"type": "wait"}))
    assert turned.arguments == {"coordinate": [1, 2], "scroll_x": 200, "scroll_y": -100}
    assert (turned.id, waited.id) == ("c-0", "c-1")


def test_what_is_no_action_we_know_is_left_to_the_computer_tool() -> None:
    fifth = {"type": "click", "button": "fifth", "x": 1, "y": 2}
    calls = calls_of(item({"type": "fly"}, fifth, {}))
    assert [one.name for one in calls] == ["fly", "fifth_click", ""]


@pytest.mark.parametrize(
    ("action", "problem"),
    [
        ({"type": "click", "x": 1, "y": 2}, "click: button is required"),
        ({"type": "click", "button": "left", "x": 1, "Y": 2}, "click: unknown argument Y"),
        ({"type": "move", "x": 1}, "move: y is required"),
        ({"type": "type", "text": None}, "type: text is required"),
        ({"type": "type", "txt": "a"}, "type: unknown argument txt: did you mean text"),
        ({"type": "keypress"}, "keypress: keys is required"),
        ({"type": "scroll", "x": 1, "y": 2, "scroll_y": "far"}, "scroll_y must be"),
        ({"type": "scroll", "x": 1, "y": 2, "dy": 300}, "scroll: unknown argument dy"),
    ],
)
def test_an_action_whose_fields_are_wrong_is_refused_by_the_computer_tool(
    action: Json, problem: str
) -> None:
    (call,) = calls_of(item(action))
    with pytest.raises(BadField, match=problem):
        desktop_call(call.name, call.arguments)


def test_older_models_have_one_action_and_none_is_a_screenshot() -> None:
    (call,) = calls_of({"call_id": "c", "action": {"type": "wait"}})
    assert call.name == "wait"
    (call,) = calls_of({"call_id": "c", "actions": []})
    assert call.name == "screenshot"


def test_all_calls_of_an_item_carry_its_safety_checks() -> None:
    checks = [{"id": "sc1", "code": "malicious_instructions", "message": "Hm."}, {"id": "sc2"}]
    calls = calls_of(item({"type": "wait"}, {"type": "wait"}, pending_safety_checks=checks))
    wanted = (SafetyCheck("sc1", "malicious_instructions", "Hm."), SafetyCheck("sc2"))
    assert [one.checks for one in calls] == [wanted, wanted]
