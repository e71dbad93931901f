import json
from typing import Any

import pytest

from deskhand.desktop.mcp.advice import instructions
from deskhand.desktop.mcp.tool import GROUPS, McpTool
from deskhand.tools.control_plane.service.machine_tools import MACHINE_TOOLS
from deskhand.tools.kit.subagents import CLOSE, LIST, MESSAGE, SPAWN, WAIT
from deskhand.tools.mcp.plane_tools import CHAT, CHAT_TOOLS, ON_DESKTOP, PLANE_TOOLS

KIT = {spec.name: spec for spec in (CLOSE, LIST, MESSAGE, SPAWN, WAIT)}
KIT |= {tool.spec.name: tool.spec for tool in MACHINE_TOOLS}
OF_KIT = [tool for tool in PLANE_TOOLS if tool.name not in ON_DESKTOP]
TOKENS = 3_000
CHARACTERS_OF_A_TOKEN = 4


def test_all_tools_together_keep_the_budget_of_hosts() -> None:
    listed = {"tools": [tool.to_json() for tool in CHAT_TOOLS]}
    assert len(json.dumps(listed, separators=(",", ":"))) / CHARACTERS_OF_A_TOKEN <= TOKENS
    assert len(CHAT_TOOLS) <= 20
    assert len({tool.name for tool in CHAT_TOOLS}) == len(CHAT_TOOLS)
    assert len(instructions(GROUPS, chats=True)) <= 1_500


@pytest.mark.parametrize("tool", CHAT_TOOLS, ids=lambda tool: tool.name)
def test_each_tool_keeps_the_limits_of_hosts(tool: McpTool) -> None:
    assert len(tool.name) <= 40
    assert len(tool.description) <= 600
    assert tool.title
    assert CHAT in tool.arguments.of


@pytest.mark.parametrize("tool", OF_KIT, ids=lambda tool: tool.name)
def test_names_and_arguments_are_those_of_the_tools_of_chats(tool: McpTool) -> None:
    known = KIT[tool.name].schema
    for name, one in tool.arguments.of.items():
        assert _shape(one.schema) == _shape(known["properties"][name]), name
    # The wait for several agents at once is offered to chats only.
    required = known.get("required", ["chat_id"] if tool.name == "wait_agent" else [])
    assert list(tool.arguments.required) == required


def _shape(schema: Any) -> Any:
    """What a schema accepts, without bounds and words."""
    shape = {key: schema[key] for key in ("enum", "required") if key in schema}
    if "enum" not in schema:
        shape["type"] = schema["type"]
    if "items" in schema:
        shape["items"] = _shape(schema["items"])
        if "properties" in schema["items"]:
            inner = schema["items"]["properties"]
            shape["inner"] = {name: _shape(one) for name, one in inner.items()}
    return shape
