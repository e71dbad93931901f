"""Responses to every action: a description, or the reason of the refusal."""

from typing import Any

import pytest

from deskhand.desktop.actions.catalog import output
from deskhand.desktop.actions.requests import action_request
from deskhand.desktop.errors import InvalidAction
from deskhand.desktop.fields import UNREADABLE
from deskhand.desktop.geometry import Size

NATIVE = Size(1920, 1080)
AT = {"coordinate": [600, 500]}


@pytest.mark.parametrize(
    ("action", "fields"),
    [
        ("key", {"text": "a"}),
        ("key", {"text": "ctrl+shift+T"}),
        ("key", {"text": "XF86AudioPlay"}),
        ("key", {"text": "Page_Down Return"}),
        ("type", {"text": "word"}),
        ("type", {"text": "", "delay_ms": 5}),
        ("key_down", {"text": "shift"}),
        ("key_up", {"text": "shift"}),
        ("hold_key", {"text": "ctrl+a", "duration": 0.01}),
        ("hold_key", {"text": "ctrl+a", "duration_ms": 10}),
        ("mouse_move", AT),
        ("mouse_move", {**AT, "duration": 0.05}),
        ("left_click", {**AT, "text": "ctrl+shift"}),
        ("right_click", {"coordinate": [0, 0]}),
        ("middle_click", {**AT, "modifiers": ["alt"]}),
        ("double_click", AT),
        ("triple_click", AT),
        ("back_click", AT),
        ("forward_click", AT),
        ("left_mouse_down", {}),
        ("left_mouse_up", {}),
        ("left_click_drag", {**AT, "start_coordinate": [500, 500], "duration": 0.01}),
        ("left_click_drag", {"path": [[1, 1], [2, 2], [3, 1]], "duration_ms": 10}),
        ("scroll", AT),
        ("scroll", {**AT, "scroll_direction": "left", "scroll_amount": 0, "text": "ctrl"}),
        ("scroll", {**AT, "scroll_direction": "up", "scroll_pixels": 106}),
        ("wait", {"duration": 0}),
        ("wait", {"duration_ms": 0.5}),
    ],
)
def test_an_action_is_read_and_has_its_description(action: str, fields: dict[str, Any]) -> None:
    request = action_request({"action": action, **fields}, NATIVE)
    assert output(request.name) == f"{action} action performed"
    assert (request.point is not None) == ("coordinate" in fields or "path" in fields)


NEED_TEXT = ("key", "type", "key_down", "key_up", "hold_key")
NEED_PLACE = (
    *("mouse_move", "left_click", "right_click", "middle_click", "double_click"),
    *("triple_click", "scroll"),
)

WRONG: list[tuple[dict[str, Any], str]] = [
    *(({"action": name}, f'Missing "text" for {name} action.') for name in NEED_TEXT),
    *(({"action": name}, f'Missing "coordinate" for {name} action.') for name in NEED_PLACE),
    *(
        ({"action": "left_click_drag", **given}, drag_text)
        for drag_text in ['Missing "coordinate" or "start_coordinate" for left_click_drag.']
        for given in ({}, {"coordinate": [1, 1]}, {"start_coordinate": [1, 1]})
    ),
    (
        {"action": "scroll", **AT, "scroll_direction": "sideways"},
        "Invalid scroll direction: sideways",
    ),
    ({"action": "dance"}, "Unknown action: dance"),
    ({"action": "Key", "text": "a"}, "Unknown action: Key"),
    ({}, "Unknown action: "),
    ({"action": 7}, UNREADABLE),
    ({"action": "left_click", "coordinate": [1]}, UNREADABLE),
    ({"action": "left_click", "coordinate": [1.5, 2]}, UNREADABLE),
    ({"action": "left_click", "coordinate": ["1", "2"]}, UNREADABLE),
    ({"action": "type", "text": 5}, UNREADABLE),
    ({"action": "type", "text": "bell\u0007"}, "No key types the character U+0007."),
    ({"action": "type", "text": "back\b"}, "No key types the character U+0008."),
    ({"action": "type", "text": "\x1b[A"}, "No key types the character U+001B."),
    ({"action": "type", "text": "\x7f"}, "No key types the character U+007F."),
    ({"action": "type", "text": "x" * 100_001}, '"text" must have at most 100000 characters.'),
    ({"action": "key", "text": "Rteurn"}, "Unknown key: Rteurn"),
    ({"action": "key", "text": "ctrl+"}, "Unknown key: ctrl+"),
    ({"action": "wait", "duration": 101}, '"duration" must be from 0 to 100 seconds.'),
    ({"action": "wait", "duration": -1}, '"duration" must be from 0 to 100 seconds.'),
    ({"action": "wait", "duration": 1500}, '"duration" is in seconds, at most 100.'),
    ({"action": "wait", "duration_ms": 100_001}, '"duration_ms" must be from 0 to 100000 millis'),
    ({"action": "wait", "duration": 1, "duration_ms": 1}, 'Give "duration" or "duration_ms", not'),
    ({"action": "hold_key", "text": "a", "duration": 100.5}, '"duration" must be from 0 to 100'),
    ({"action": "screenshot", "scaled_width": 640}, 'Give both "scaled_width" and "scaled_height"'),
    (
        {"action": "screenshot", "scaled_width": 15, "scaled_height": 16},
        '"scaled_width" must be from 16 to 1920.',
    ),
    (
        {"action": "screenshot", "scaled_width": 1920, "scaled_height": 1081},
        '"scaled_height" must be from 16 to 1080.',
    ),
    (
        {"action": "screenshot", "coordinate_space": "own"},
        '"coordinate_space" must be one of model, native, normalized_1000.',
    ),
    ({"action": "zoom"}, 'Missing "region" for zoom action.'),
    ({"action": "screenshot", "format": "gif"}, '"format" must be one of png, jpeg, webp.'),
    ({"action": "left_click_drag", "path": [[1, 1]]}, '"path" must have 2 to 10000 items.'),
    (
        {"action": "left_click_drag", "path": [[1, 1]] * 10_001},
        '"path" must have 2 to 10000 items.',
    ),
    (
        {"action": "wait", "observe": {"settle": {"max_ms": 30_001}}},
        '"max_ms" must be from 0 to 30000.',
    ),
    ({"action": "wait", "seconds": 1}, 'Unknown field "seconds".'),
]


@pytest.mark.parametrize(("body", "message"), WRONG, ids=lambda value: str(value)[:60])
def test_a_wrong_action_is_refused_with_the_reason(body: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidAction) as caught:
        action_request(body, NATIVE)
    assert caught.value.message.startswith(message)
