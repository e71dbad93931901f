from typing import Any

import pytest

from deskhand.desktop.actions.catalog import ACTIONS
from deskhand.desktop.actions.fields import FIELDS
from deskhand.desktop.mcp.tool import McpTool
from deskhand.desktop.mcp.tool_table import (
    ACTION_FIELDS,
    ACTION_NAMES,
    COMPUTER,
    DESKTOP_TOOLS,
)


def all_keys(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value) | {key for inner in value.values() for key in all_keys(inner)}
    if isinstance(value, list):
        return {key for inner in value for key in all_keys(inner)}
    return set()


@pytest.mark.parametrize("tool", DESKTOP_TOOLS, ids=lambda tool: tool.name)
def test_each_row_keeps_the_limits_of_hosts(tool: McpTool) -> None:
    assert tool.name == tool.name.lower()
    assert tool.name.replace("_", "").isalpha()
    assert len(tool.name) <= 40
    assert tool.title
    assert 0 < len(tool.description) <= 600
    assert set(tool.required) <= set(tool.arguments)
    # Some hosts strip references, and defaults beside alternatives.
    assert not all_keys(tool.to_json()) & {"$ref", "$defs", "anyOf", "oneOf", "allOf"}


def test_the_actions_are_those_of_the_table_but_for_pictures() -> None:
    assert set(ACTION_NAMES) == set(ACTIONS) - {"screenshot", "zoom"}
    act = next(tool for tool in COMPUTER if tool.name == "computer_act")
    properties = act.arguments["actions"]["items"]["properties"]
    assert properties["action"] == {"enum": list(ACTION_NAMES)}
    for name in ACTION_FIELDS:
        assert properties[name]["type"] == FIELDS[name].schema["type"]
    assert properties["path"]["items"] == {"type": "array", "items": {"type": "integer"}}
    assert properties["scroll_direction"]["enum"] == ["up", "down", "left", "right"]


def test_what_looks_is_read_only_and_what_acts_is_destructive() -> None:
    hints = {tool.name: (tool.read_only, tool.destructive, tool.open_world) for tool in COMPUTER}
    assert hints["computer_look"] == hints["computer_find"] == (True, False, False)
    assert hints["computer_act"] == (False, True, True)
    assert not any(tool.read_only and tool.destructive for tool in DESKTOP_TOOLS)
