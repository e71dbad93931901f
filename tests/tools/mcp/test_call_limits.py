from typing import Any

import pytest

from deskhand.desktop.errors import BadField
from deskhand.desktop.mcp.limits import LONGEST_WAIT
from deskhand.tools.mcp import call_limits
from deskhand.tools.mcp.plane_tools import PLANE_TOOLS

CHAT = "00000000-0000-0000-0000-000000000007"


def within_limits(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    tool = next(one for one in PLANE_TOOLS if one.name == name)
    return call_limits.within_limits(name, arguments, tool.arguments.read(arguments))


@pytest.mark.parametrize(("given", "wait"), [(None, 44.0), (300, 44.0), (5, 5.0), (0, 0.0)])
def test_a_wait_for_an_agent_ends_before_hosts_give_up(given: Any, wait: float) -> None:
    arguments = {"chat_id": CHAT, "timeout_seconds": given}
    assert within_limits("wait_agent", arguments) == {"chat_id": CHAT, "timeout_seconds": wait}


@pytest.mark.parametrize("given", [True, "5", -1, float("nan")])
def test_other_waits_are_refused(given: Any) -> None:
    with pytest.raises(BadField, match="timeout_seconds"):
        within_limits("wait_agent", {"chat_id": CHAT, "timeout_seconds": given})


def test_a_command_is_waited_for_as_long_as_hosts_wait() -> None:
    assert (
        within_limits("execute", {"command": "x", "timeout": "1h"})["timeout"]
        == f"{LONGEST_WAIT:g}s"
    )
    assert within_limits("execute", {"command": "x"})["timeout"] == "10s"
    assert (
        within_limits("process_output", {"process_id": "p", "wait_timeout": "2s"})["wait_timeout"]
        == "2s"
    )
    background = {"command": "x", "run_in_background": True}
    assert within_limits("execute", background) == background


def test_a_list_of_agents_is_bounded() -> None:
    assert within_limits("list_agents", {"limit": 500})["limit"] == 50
    assert within_limits("list_agents", {})["limit"] == 10


def test_other_calls_stay_as_they_are() -> None:
    assert within_limits("read_file", {"path": "/a"}) == {"path": "/a"}
