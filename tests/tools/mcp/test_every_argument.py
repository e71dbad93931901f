"""A call of a tool of a control plane over MCP does what was asked, or nothing."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from deskhand.tools.mcp.plane_tools import AGENTS, CHAT_TOOLS, ON_DESKTOP
from tests.desktop.mcp.calls.test_every_argument import GOOD as ON_ITS_DESKTOP
from tests.mistakes import Mistake, mistakes_in

from .test_plane_calls import Plane

AGENT = str(uuid4())
GOOD: dict[str, dict[str, Any]] = {
    **ON_ITS_DESKTOP,
    "spawn_computer_use_agent": {
        **{"prompt": "Do it.", "title": "It", "model": "m", "budget": {"steps": 5}},
    },
    "wait_agent": {"chat_id": AGENT, "timeout_seconds": 5},
    "message_agent": {"chat_id": AGENT, "message": "Hi", "interrupt": True},
    "close_agent": {"chat_id": AGENT},
    "list_agents": {"limit": 5, "offset": 0},
}


def all_mistakes() -> Iterator[Any]:
    for tool in CHAT_TOOLS:
        for mistake in mistakes_in(tool.to_json()["inputSchema"], GOOD[tool.name]):
            if not mistake.title.startswith("actions: "):
                yield pytest.param(tool.name, mistake, id=f"{tool.name}: {mistake}")


@pytest.mark.parametrize(("name", "mistake"), [*all_mistakes()])
def test_a_call_with_a_mistake_reaches_no_chat(name: str, mistake: Mistake) -> None:
    plane = Plane()
    result = plane.call(name, mistake.arguments)
    assert plane.chats.asked == []
    assert result.is_error
    assert mistake.field in result.text


@pytest.mark.parametrize("tool", CHAT_TOOLS, ids=lambda tool: tool.name)
def test_a_call_without_a_mistake_reaches_its_chat(tool: Any) -> None:
    plane = Plane()
    plane.call(tool.name, GOOD[tool.name])
    called = plane.chats.asked[-1][0]
    assert (called.spec.name if tool.name in ON_DESKTOP else called) == tool.name
    assert tool not in AGENTS or {*GOOD[tool.name], "chat"} == tool.arguments.of.keys()
