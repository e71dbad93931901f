from typing import Any

from deskhand.desktop.dialects.cdp.held_input import HeldInput


def key(kind: str, code: str = "KeyA") -> dict[str, Any]:
    parameters = {"type": kind, "key": "a", "code": code, "text": "a", "modifiers": 2}
    return {"method": "Input.dispatchKeyEvent", "params": parameters, "sessionId": "s"}


def mouse(kind: str, button: str = "left") -> dict[str, Any]:
    parameters = {"type": kind, "x": 3, "y": 4, "button": button}
    return {"method": "Input.dispatchMouseEvent", "params": parameters}


def test_keys_and_buttons_that_are_held_are_released_once() -> None:
    held = HeldInput()
    for message in (key("keyDown"), key("rawKeyDown", "ShiftLeft"), mouse("mousePressed")):
        held.note(message)
    assert held.releases() == [
        {
            "method": "Input.dispatchKeyEvent",
            "params": {"type": "keyUp", "key": "a", "code": "KeyA"},
            "sessionId": "s",
        },
        {
            "method": "Input.dispatchKeyEvent",
            "params": {"type": "keyUp", "key": "a", "code": "ShiftLeft"},
            "sessionId": "s",
        },
        {
            "method": "Input.dispatchMouseEvent",
            "params": {"type": "mouseReleased", "x": 3, "y": 4, "button": "left", "clickCount": 1},
        },
    ]
    assert held.releases() == []


def test_what_the_client_releases_is_not_held() -> None:
    held = HeldInput()
    for message in (
        *(key("keyDown"), key("char"), key("keyUp")),
        *(mouse("mousePressed"), mouse("mouseMoved"), mouse("mouseReleased")),
        *({"method": "Input.insertText", "params": {"text": "a"}}, {"method": "Page.enable"}),
    ):
        held.note(message)
    assert held.releases() == []
