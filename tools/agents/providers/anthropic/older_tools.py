"""The computer tools that precede the toolset: one tool whose input has an ``action``. Pure.

Our conversation has the calls of the toolset. For a model that takes an older tool they are
converted when they are sent, and its calls when they are received
(https://docs.claude.com/en/docs/agents-and-tools/tool-use/computer-use-tool).
"""

from typing import Any

from deskhand.tools.conversation.conversation import ToolCall

Json = dict[str, Any]

NAME = "computer"
WIDTH, HEIGHT = 1280, 720
"""Pixels of the screenshots of desktops; a request must contain them."""

_ZOOMS = "computer_20251124"
"""The version that can show a part of the screen in full resolution."""

_CLICKS = frozenset(f"{kind}_click" for kind in ("left", "right", "middle", "double", "triple"))


def is_older(tool: str) -> bool:
    """Return whether the computer tool of a model is one of these, by its type."""
    return tool.startswith("computer_2")


def entry(tool: str) -> Json:
    """Return the entry of a tool of this type in a request."""
    size = {"display_width_px": WIDTH, "display_height_px": HEIGHT}
    return {"type": tool, "name": NAME, **size} | ({"enable_zoom": True} if tool == _ZOOMS else {})


def sent(block: Json) -> Json:
    """Return a block of the toolset in the form of an older tool; others as they are."""
    if "toolset_name" not in block:
        return block
    rest = {key: value for key, value in block.items() if key != "toolset_name"}
    if block["type"] != "tool_use":
        return rest
    name = block["toolset_name"]
    return {**rest, "name": name, "input": {**block["input"], "action": block["name"]}}


def received(call: ToolCall) -> ToolCall:
    """Return a call of an older tool as one of the toolset; others as they are."""
    action = call.arguments.get("action")
    if call.name != NAME or call.toolset is not None or not isinstance(action, str):
        return call
    arguments = {key: value for key, value in call.arguments.items() if key != "action"}
    # Keys held during a click have a name of their own here.
    if action in _CLICKS and "key" in arguments and "text" not in arguments:
        arguments["text"] = arguments.pop("key")
    return ToolCall(call.id, action, arguments, NAME)
