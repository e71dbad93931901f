from typing import Any

import pytest

from deskhand.desktop.dialects.cdp.steps import LONGEST_TEXT, CdpStep, step_of

MOUSE, KEY = "Input.dispatchMouseEvent", "Input.dispatchKeyEvent"


@pytest.mark.parametrize(
    ("method", "parameters", "step"),
    [
        (MOUSE, {"type": "mousePressed", "button": "left", "clickCount": 1}, ("left_click", "")),
        (MOUSE, {"type": "mousePressed", "button": "left", "clickCount": 2}, ("double_click", "")),
        (MOUSE, {"type": "mousePressed", "button": "right"}, ("right_click", "")),
        (MOUSE, {"type": "mouseWheel"}, ("scroll", "")),
        (KEY, {"type": "keyDown", "text": "a", "key": "a"}, ("type", "a")),
        (KEY, {"type": "keyDown", "text": "\r", "key": "Enter"}, ("key", "Enter")),
        (KEY, {"type": "rawKeyDown", "key": "F5"}, ("key", "F5")),
        (KEY, {"type": "rawKeyDown"}, ("key", "")),
        ("Input.insertText", {"text": "Grüße"}, ("type", "Grüße")),
        ("Input.insertText", {"text": "x" * 9_000}, ("type", "x" * LONGEST_TEXT)),
        ("Input.dispatchTouchEvent", {}, ("dispatchTouchEvent", "")),
        ("Page.navigate", {"url": "https://a/"}, ("navigate", "https://a/")),
        ("Page.reload", {}, ("reload", "")),
    ],
)
def test_a_request_is_a_step(method: str, parameters: dict[str, Any], step: CdpStep) -> None:
    assert step_of(method, parameters) == step


@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        (MOUSE, {"type": "mouseMoved"}),
        (MOUSE, {"type": "mouseReleased"}),
        (KEY, {"type": "keyUp"}),
        ("Input.setIgnoreInputEvents", {}),
        ("Runtime.evaluate", {"expression": "1"}),
    ],
)
def test_the_rest_of_an_action_is_none(method: str, parameters: dict[str, Any]) -> None:
    assert step_of(method, parameters) is None
