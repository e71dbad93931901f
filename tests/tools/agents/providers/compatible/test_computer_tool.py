from typing import Any

import pytest

from deskhand.desktop.errors import BadField
from deskhand.tools.agents.providers.compatible.computer_tool import (
    ACTIONS,
    TOOL,
    call_of,
    function_of,
)
from deskhand.tools.conversation.conversation import ToolCall
from deskhand.tools.kit.support.computer_calls import MEMBERS, desktop_call

CLICK = ToolCall("a", "left_click", {"coordinate": [1, 2]}, "computer")


def test_each_action_is_one_of_the_computer_tool() -> None:
    assert set(ACTIONS) <= set(MEMBERS)


def test_each_field_of_an_action_is_described() -> None:
    fields = set(TOOL["function"]["parameters"]["properties"]) - {"action"}
    assert fields == {
        key for name in ACTIONS for key in (*MEMBERS[name].needs, *MEMBERS[name].takes)
    }


def test_a_call_of_the_function_is_one_of_the_toolset() -> None:
    given: dict[str, Any] = {"action": "left_click", "coordinate": [1, 2], "text": None}
    assert call_of("a", "computer", given, ("execute",)) == CLICK
    assert function_of(CLICK) == ("computer", {"action": "left_click", "coordinate": [1, 2]})


def test_other_functions_are_tools_of_ours() -> None:
    plain = ToolCall("a", "execute", {"command": "ls"})
    assert call_of("a", "execute", {"command": "ls"}, ("execute",)) == plain
    assert function_of(plain) == ("execute", {"command": "ls"})
    assert call_of("a", "computer", {}, ("computer",)) == ToolCall("a", "computer", {})


def test_a_call_without_an_action_is_reported() -> None:
    call = call_of("a", "computer", {}, ())
    with pytest.raises(BadField, match="There is no computer action ''; there are screenshot"):
        desktop_call(call.name, call.arguments)
