"""Requests with a computer tool that precedes the toolset, read as requests with the toolset. Pure.

A model takes either the toolset or the older tool of its generation; the provider refuses the
other. The older tools need a beta, a name and the size of the screen.
"""

from collections.abc import Iterable
from typing import Any

from deskhand.tools.agents.providers.model_table import model_facts
from deskhand.tools.agents.scripted.script.request import InvalidRequest

Json = dict[str, Any]

NAME = "computer"
TOOLSET = "computer_toolset_20260801"
BETAS = {
    "computer_20250124": "computer-use-2025-01-24",
    "computer_20251124": "computer-use-2025-11-24",
}
_KEYS = {"type", "name", "display_width_px", "display_height_px", "display_number", "cache_control"}
_LARGEST = 1568
"""Pixels of an edge above which the provider scales pictures, so that points do not fit."""


def is_older(offered: Iterable[Json]) -> bool:
    """Return whether one of the tools of a request is an older computer tool."""
    return any(tool.get("type") in BETAS for tool in offered)


def with_toolset(body: Json, betas: frozenset[str]) -> Json:
    """Return a body with the toolset in the place of an older tool, and its calls with members.

    Raises:
        InvalidRequest: If the tool is wrong, or is none of the model's generation.
    """
    tools = body.get("tools")
    if not isinstance(tools, list) or not all(isinstance(tool, dict) for tool in tools):
        return body
    _check_generation(tools, str(body.get("model")))
    if not is_older(tools):
        return body
    converted = []
    for index, tool in enumerate(tools):
        if tool.get("type") not in BETAS:
            converted.append(tool)
            continue
        _check_tool(tool, f"tools.{index}", betas)
        kept = {key: tool[key] for key in ("cache_control",) if key in tool}
        converted.append({"type": TOOLSET, **kept})
    return {**body, "tools": converted, "messages": _messages(body.get("messages"))}


def without_toolset(content: Iterable[Json]) -> tuple[Json, ...]:
    """Return the content of a reply with calls of the older tool."""
    return tuple(
        {
            "type": "tool_use",
            "id": block["id"],
            "name": NAME,
            "input": {"action": block["name"], **block["input"]},
        }
        if "toolset_name" in block
        else block
        for block in content
    )


def _check_generation(tools: list[Json], model: str) -> None:
    wanted = model_facts(model).computer
    for index, tool in enumerate(tools):
        kind = tool.get("type")
        computer = kind in BETAS or kind == TOOLSET
        if computer and kind != wanted and (wanted in BETAS or kind in BETAS):
            raise InvalidRequest(f"tools.{index}.type", f"{model} does not support {kind}")


def _check_tool(tool: Json, where: str, betas: frozenset[str]) -> None:
    kind = tool["type"]
    if BETAS[kind] not in betas:
        raise InvalidRequest(f"{where}.type", f"needs the beta {BETAS[kind]}")
    allowed = _KEYS | ({"enable_zoom"} if kind == "computer_20251124" else set())
    for key in tool:
        if key not in allowed:
            raise InvalidRequest(f"{where}.{key}", "is not known")
    if tool.get("name") != NAME:
        raise InvalidRequest(f"{where}.name", f"must be {NAME}")
    for key in ("display_width_px", "display_height_px"):
        size = tool.get(key)
        if not isinstance(size, int) or not 0 < size <= _LARGEST:
            raise InvalidRequest(f"{where}.{key}", f"must be from 1 to {_LARGEST}")


def _messages(messages: object) -> object:
    if not isinstance(messages, list):
        return messages
    calls: set[object] = set()
    return [_message(message, f"messages.{i}", calls) for i, message in enumerate(messages)]


def _message(message: object, where: str, calls: set[object]) -> object:
    if not isinstance(message, dict) or not isinstance(message.get("content"), list):
        return message
    content = [
        _block(block, f"{where}.content.{i}", calls) if isinstance(block, dict) else block
        for i, block in enumerate(message["content"])
    ]
    return {**message, "content": content}


def _block(block: Json, where: str, calls: set[object]) -> Json:
    if "toolset_name" in block:
        raise InvalidRequest(f"{where}.toolset_name", "no such toolset is offered")
    if block.get("type") == "tool_use" and block.get("name") == NAME:
        given = block.get("input")
        if not isinstance(given, dict) or not isinstance(given.get("action"), str):
            raise InvalidRequest(f"{where}.input.action", "is missing")
        calls.add(block.get("id"))
        rest = {key: value for key, value in given.items() if key != "action"}
        return {**block, "name": given["action"], "input": rest, "toolset_name": NAME}
    if block.get("type") == "tool_result" and block.get("tool_use_id") in calls:
        return {**block, "toolset_name": NAME}
    return block
