"""The computer tools that precede the toolset."""

import pytest

from deskhand.tools.agents.providers.anthropic.older_tools import entry, is_older, received, sent
from deskhand.tools.conversation.conversation import ToolCall

CALL = {
    "type": "tool_use",
    "id": "t1",
    "name": "left_click",
    "input": {"coordinate": [3, 4]},
    "toolset_name": "computer",
}


def test_the_types_of_older_tools_are_known_by_their_form() -> None:
    assert is_older("computer_20250124")
    assert is_older("computer_20251124")
    assert not is_older("computer_toolset_20260801")
    assert not is_older("computer_use_preview")


def test_an_older_tool_has_a_name_a_size_and_the_zoom_of_its_version() -> None:
    size = {"display_width_px": 1280, "display_height_px": 720}
    plain = {"type": "computer_20250124", "name": "computer", **size}
    assert entry("computer_20250124") == plain
    assert entry("computer_20251124")["enable_zoom"] is True


def test_a_call_is_sent_as_an_action_and_its_result_without_a_toolset() -> None:
    assert sent(CALL) == {
        "type": "tool_use",
        "id": "t1",
        "name": "computer",
        "input": {"action": "left_click", "coordinate": [3, 4]},
    }
    result = {"type": "tool_result", "tool_use_id": "t1"}
    assert sent({**result, "toolset_name": "computer"}) == result
    assert sent(result) == result


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        ({"coordinate": [3, 4]}, {"coordinate": [3, 4]}),
        ({"coordinate": [3, 4], "key": "shift"}, {"coordinate": [3, 4], "text": "shift"}),
        # The computer tool refuses a call with both.
        ({"key": "shift", "text": "ctrl"}, {"key": "shift", "text": "ctrl"}),
    ],
)
def test_an_action_is_received_as_a_call_of_the_toolset(
    given: dict[str, object], arguments: dict[str, object]
) -> None:
    call = ToolCall("t1", "computer", {"action": "left_click", **given})
    assert received(call) == ToolCall("t1", "left_click", arguments, "computer")


def test_other_calls_are_received_as_they_are() -> None:
    for call in (
        ToolCall("t1", "execute", {"action": "x"}),
        ToolCall("t1", "computer", {}),
        ToolCall("t1", "computer", {"action": "x"}, "computer"),
    ):
        assert received(call) is call
