"""A call of an MCP tool does what was asked, or nothing."""

import asyncio
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from typing import Any

import pytest

from deskhand.desktop.mcp.calls.desktop_calls import DesktopCalls
from deskhand.desktop.mcp.calls.seen_screens import SeenScreens
from deskhand.desktop.mcp.selection import ToolSelection
from deskhand.desktop.mcp.tool import McpResult
from deskhand.desktop.mcp.tool_table import DESKTOP_TOOLS
from tests.desktop.mcp.fakes import FakeDesktop
from tests.mistakes import Mistake, mistakes_in

Json = dict[str, Any]
EDIT: Json = {"path": "/a", "old_text": "x", "new_text": "", "replace_all": True}
GOOD: dict[str, Json] = {
    "computer_look": {"region": [0, 0, 9, 9], "format": "jpeg"},
    "computer_act": {"actions": [{"action": "wait"}], "look": False},
    "computer_find": {"text": "a", "role": "button"},
    "computer_open": {"target": "browser"},
    "execute": {"command": "ls", "timeout": "5s", "workdir": "/", "run_in_background": False},
    "process_output": {"process_id": "p", "wait_timeout": "0s"},
    "process_list": {},
    "process_signal": {"process_id": "p", "signal": "kill"},
    "read_file": {"path": "/a", "offset": 1, "limit": 2},
    "write_file": {"path": "/a", "content": ""},
    "edit_files": {"edits": [EDIT, EDIT]},
    "search_files": {
        **{"path": "/", "pattern": "x", "glob": "*.py", "literal": True, "ignore_case": True},
        **{"offset": 0, "limit": 5},
    },
    "recording": {"action": "start", "label": "demo"},
}
"""Arguments of each tool, with all that it has."""


def used(name: str, arguments: Any) -> tuple[McpResult | None, FakeDesktop, list[str]]:
    """Return the result of a call, if it has one without replies, and the steps that it made."""
    fake, steps = FakeDesktop(), list[str]()

    def step(tool: str, title: str) -> Any:
        steps.append(title)
        return nullcontext()

    calls = DesktopCalls(fake, SeenScreens(), "me", ToolSelection(), step=step)
    result = None
    # The fake has no replies.
    with suppress(KeyError):
        result = asyncio.run(calls.call(name, arguments))
    return result, fake, steps


def all_mistakes() -> Iterator[Any]:
    for tool in DESKTOP_TOOLS:
        schema = tool.to_json()["inputSchema"]
        for mistake in mistakes_in(schema, GOOD[tool.name]):
            # The desktop checks the fields of actions, all before it performs the first.
            if not mistake.title.startswith("actions: "):
                yield pytest.param(tool.name, mistake, id=f"{tool.name}: {mistake}")


@pytest.mark.parametrize(("name", "mistake"), [*all_mistakes()])
def test_a_call_with_a_mistake_does_nothing_and_names_it(name: str, mistake: Mistake) -> None:
    result, fake, steps = used(name, mistake.arguments)
    assert (fake.requests, steps) == ([], [])
    assert result is not None
    assert result.is_error
    assert result.text.startswith("Nothing was done: ")
    assert mistake.field in result.text
    if mistake.nearest:
        assert f"did you mean {mistake.nearest}?" in result.text


@pytest.mark.parametrize("tool", DESKTOP_TOOLS, ids=lambda tool: tool.name)
def test_a_call_without_a_mistake_asks_the_desktop(tool: Any) -> None:
    good = GOOD[tool.name]
    assert good.keys() == tool.arguments.of.keys()
    assert used(tool.name, good)[1].requests
    nulls = {key: good[key] if key in tool.arguments.required else None for key in good}
    if tool.name not in ("computer_find", "search_files"):
        assert used(tool.name, nulls)[1].requests
