from collections.abc import Callable
from typing import Any

import pytest

from deskhand.desktop.dialects.cua import input_commands as inputs
from deskhand.desktop.dialects.cua.errors import FailedCommand
from tests.desktop.dialects.cua.scripted_replies import actions, cursor, driven

CURSOR = {"action": "cursor_position"}
AT, HERE = {"coordinate": [1, 2]}, {"coordinate": [5, 6]}


@pytest.mark.parametrize(
    ("command", "params", "expected"),
    [
        (inputs.click("left"), {"x": 1, "y": 2}, [{"action": "left_click", **AT}]),
        (
            inputs.click("left"),
            {"x": 1, "y": 2, "button": "Middle"},
            [{"action": "middle_click", **AT}],
        ),
        (inputs.click("right"), {"x": None}, [CURSOR, {"action": "right_click", **HERE}]),
        (inputs.double_click, {"x": 1, "y": 2}, [{"action": "double_click", **AT}]),
        (inputs.double_click, {}, [CURSOR, {"action": "double_click", **HERE}]),
        (
            inputs.double_click,
            {"x": 1, "y": 2, "button": "right"},
            2 * [{"action": "right_click", **AT}],
        ),
        (
            inputs.mouse("down"),
            {"x": 1, "y": 2},
            [{"action": "mouse_move", **AT}, {"action": "left_mouse_down"}],
        ),
        (inputs.mouse("up"), {"button": "right"}, [{"action": "right_mouse_up"}]),
        (
            inputs.drag,
            {"path": [[1, 2], [3, 4], [5, 6]], "button": "right", "duration": 1},
            [
                {"action": "mouse_move", **AT},
                {"action": "right_mouse_down"},
                {"action": "mouse_move", "coordinate": [3, 4], "duration": 0.5},
                {"action": "mouse_move", "coordinate": [5, 6], "duration": 0.5},
                {"action": "right_mouse_up"},
            ],
        ),
        (inputs.move_cursor, {"x": 1, "y": 2}, [{"action": "mouse_move", **AT}]),
        (
            inputs.drag_to,
            {"x": 1, "y": 2, "duration": 1},
            [CURSOR, {"action": "left_click_drag", "path": [[5, 6], [1, 2]], "duration": 1.0}],
        ),
        (
            inputs.drag,
            {"path": [[1, 2], [3, 4]], "duration": -1},
            [{"action": "left_click_drag", "path": [[1, 2], [3, 4]], "duration": 0}],
        ),
        (
            inputs.press_key,
            {"key": "page_up"},
            [{"action": "key", "text": "page_up"}],
        ),
        (inputs.press_key, {"key": "A"}, [{"action": "key", "text": "shift+a"}]),
        (inputs.press_key, {"key": "CMD_L"}, [{"action": "key", "text": "Super_L"}]),
        (inputs.hotkey, {"keys": ["ctrl", "+"]}, [{"action": "key", "text": "ctrl+plus"}]),
        (inputs.held("key_down"), {"key": "a"}, [{"action": "key_down", "text": "a"}]),
        (inputs.type_text, {"text": "it's <"}, [{"action": "type", "text": "it's <"}]),
    ],
)
def test_commands_become_actions(
    command: Callable[[Any], Any], params: Any, expected: list[Any]
) -> None:
    replies = [cursor()]
    assert driven(command(params), replies)[0] == {}
    assert actions(driven(command(params), replies)[1]) == expected


def turned(direction: str, amount: int, at: list[int]) -> dict[str, Any]:
    where = {"coordinate": at, "scroll_direction": direction}
    return {"action": "scroll", **where, "scroll_amount": amount}


@pytest.mark.parametrize(
    ("command", "params", "expected"),
    [
        (inputs.scroll, {"x": 0, "y": -3}, [CURSOR, turned("down", 3, [5, 6])]),
        (inputs.scroll, {"x": 2, "y": 0}, [CURSOR, turned("right", 2, [5, 6])]),
        (
            inputs.scroll,
            {"x": 1, "y": 2, "scroll_x": -1, "scroll_y": 4},
            [turned("up", 4, [1, 2]), turned("left", 1, [1, 2])],
        ),
        (inputs.scroll, {"scroll_y": 1}, [CURSOR, turned("up", 1, [5, 6])]),
        (inputs.scroll_by("down"), {}, [CURSOR, turned("down", 1, [5, 6])]),
        (
            inputs.scroll_direction,
            {"direction": "LEFT", "clicks": 2},
            [CURSOR, turned("left", 2, [5, 6])],
        ),
    ],
)
def test_notches_turn_up_and_to_the_right(
    command: Callable[[Any], Any], params: Any, expected: list[Any]
) -> None:
    assert actions(driven(command(params), [cursor()])[1]) == expected


def test_the_pointers_position_is_returned() -> None:
    assert driven(inputs.cursor_position({}), [cursor(7, 8)])[0] == {"position": {"x": 7, "y": 8}}


@pytest.mark.parametrize(
    ("command", "params", "sentence"),
    [
        (inputs.click("left"), {"x": 1, "y": 2, "button": "wheel"}, "button must be one of"),
        (inputs.mouse("down"), {"button": "back"}, "button must be one of"),
        (inputs.hotkey, {"keys": []}, "keys must not be empty"),
        (inputs.scroll_direction, {"direction": "in"}, "direction must be"),
    ],
)
def test_what_cannot_be_done_is_refused(
    command: Callable[[Any], Any], params: Any, sentence: str
) -> None:
    with pytest.raises(FailedCommand, match=sentence):
        driven(command(params), [cursor()])
