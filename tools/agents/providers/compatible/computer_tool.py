"""The computer as one function tool, for models without a tool of their own for it. Pure.

The function ``computer`` has an ``action``, and the fields of that action beside it. The actions
are the members of our computer toolset.
"""

from collections.abc import Collection, Mapping
from typing import Any

from deskhand.tools.agents.providers.browser_tool import as_function
from deskhand.tools.conversation.conversation import ToolCall
from deskhand.tools.kit.support.computer_calls import FIELDS

Json = dict[str, Any]

COMPUTER = "computer"
ACTION = "action"
ACTIONS = (
    "screenshot",
    "left_click",
    "right_click",
    "middle_click",
    "double_click",
    "triple_click",
    "mouse_move",
    "left_mouse_down",
    "left_mouse_up",
    "left_click_drag",
    "scroll",
    "type",
    "key",
    "hold_key",
    "wait",
    "zoom",
    "cursor_position",
)
DESCRIPTION = (
    "Use the mouse and the keyboard of a desktop, and see its screen. Points are [x, y] in pixels"
    " of the newest screenshot. Take a screenshot first. The screen after an action is shown in the"
    " message after the results."
)
TOOL: Json = {
    "type": "function",
    "function": {
        "name": COMPUTER,
        "description": DESCRIPTION,
        "parameters": {
            "type": "object",
            "properties": {
                ACTION: {"type": "string", "enum": list(ACTIONS)},
                **{name: FIELDS[name].schema for name in FIELDS if name != "path"},
            },
            "required": [ACTION],
        },
    },
}


def call_of(
    call_id: str, name: str, arguments: Mapping[str, Any], tools: Collection[str]
) -> ToolCall:
    """Return a call of a function as ours; a tool of ours may have the name of the function."""
    if name != COMPUTER or name in tools:
        return ToolCall(call_id, name, dict(arguments))
    # Models send null for the fields that an action does not have.
    own = {key: value for key, value in arguments.items() if key != ACTION and value is not None}
    # Without an action the computer tool answers which there are.
    return ToolCall(call_id, str(arguments.get(ACTION, "")), own, COMPUTER)


def function_of(call: ToolCall) -> tuple[str, Json]:
    """Return name and arguments of the function for a call of ours."""
    call = as_function(call)
    if call.toolset is None:
        return call.name, call.arguments
    return COMPUTER, {**call.arguments, ACTION: call.name}
