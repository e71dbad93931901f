from deskhand.desktop.dialects.cua.held_keys import HeldKeys
from deskhand.desktop.dialects.cua.messages import CommandRequest


def test_what_was_not_released_is_released_the_last_first() -> None:
    held = HeldKeys()
    for asked in [
        CommandRequest("key_down", {"key": "shift"}),
        CommandRequest("key_down", {"key": "a"}),
        CommandRequest("mouse_down", {"x": 1, "y": 2}),
        CommandRequest("key_up", {"key": "a"}),
        CommandRequest("press_key", {"key": "b"}),
    ]:
        held.note(asked)
    assert held.releases() == (
        CommandRequest("mouse_up", {"button": "left"}),
        CommandRequest("key_up", {"key": "shift"}),
    )


def test_nothing_is_released_twice() -> None:
    held = HeldKeys()
    for command in ("mouse_down", "mouse_up", "mouse_up", "key_up"):
        held.note(CommandRequest(command, {}))
    assert held.releases() == ()
