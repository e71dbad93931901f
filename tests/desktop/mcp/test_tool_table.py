from typing import Any

import pytest

from deskhand.desktop.actions.catalog import ACTIONS
from deskhand.desktop.actions.fields import FIELDS
from deskhand.desktop.errors import BadField
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
    assert set(tool.arguments.required) <= set(tool.arguments.of)
    # Some hosts strip references, and defaults beside alternatives.
    assert not all_keys(tool.to_json()) & {"$ref", "$defs", "anyOf", "oneOf", "allOf"}


def test_the_actions_are_those_of_the_table_but_for_pictures() -> None:
    assert set(ACTION_NAMES) == set(ACTIONS) - {"screenshot", "zoom"}
    act = next(tool for tool in COMPUTER if tool.name == "computer_act")
    properties = act.arguments.of["actions"].schema["items"]["properties"]
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


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        ("computer_act", {"actions": []}, "actions must have 1 to 20 items"),
        ("computer_act", {"actions": [{"action": "zoom"}]}, "actions must have no pictures"),
        ("edit_files", {"edits": []}, "edits must have at least one edit"),
        ("edit_files", {"edits": [{"path": "/a"}]}, "edits[0].old_text is required"),
    ],
)
def test_lists_are_read_with_what_is_in_them(
    name: str, arguments: dict[str, Any], sentence: str
) -> None:
    tool = next(one for one in DESKTOP_TOOLS if one.name == name)
    with pytest.raises(BadField) as caught:
        tool.arguments.read(arguments)
    assert caught.value.sentence.startswith(sentence)


def test_actions_and_edits_are_read() -> None:
    rows = {tool.name: tool.arguments for tool in DESKTOP_TOOLS}
    actions = [{"action": "wait"}]
    assert rows["computer_act"].read({"actions": actions}) == {"actions": actions, "look": True}
    edit = {"path": "/a", "old_text": "x", "new_text": ""}
    edits = rows["edit_files"].read({"edits": [edit]})["edits"]
    assert edits == ({**edit, "replace_all": False},)
