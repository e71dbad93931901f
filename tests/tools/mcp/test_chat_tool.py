import asyncio
from collections.abc import Mapping
from typing import Any

from deskhand.desktop.mcp.calls.seen_screens import SeenScreens
from deskhand.desktop.mcp.selection import ToolSelection
from deskhand.desktop.mcp.tool import McpImage
from deskhand.tools.kit.support.spec import (
    Machine,
    MachineRefused,
    MachineUnavailable,
    ToolContext,
    ToolOutcome,
)
from deskhand.tools.mcp.chat_tool import ChatTool, ReadTool

SCREEN = {"size": {"width": 1920, "height": 1080}}
SHOWN = {"frame_id": "f-1", "screenshot_data": "cG5n", "screenshot_media_type": "image/png"}


class FakeMachine:
    """Answers each path, and notes the ids of the calls that requests carry."""

    def __init__(self, replies: Mapping[str, Any], call_id: str = "") -> None:
        self.replies = replies
        self.ids: list[str] = []
        self._call_id = call_id

    def for_call(self, tool_call_id: str) -> "FakeMachine":
        numbered = FakeMachine(self.replies, tool_call_id)
        numbered.ids = self.ids
        return numbered

    async def request(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        content: bytes | None = None,
        params: Mapping[str, str] | None = None,
        timeout: float = 30.0,
    ) -> Any:
        self.ids.append(self._call_id)
        reply = self.replies[path]
        if isinstance(reply, Exception):
            raise reply
        return reply


class PlainMachine:
    """A machine without ids of calls."""

    async def request(self, method: str, path: str, **_: Any) -> Any:
        return {"processes": [], "recordings": []}


def context(machine: Machine) -> ToolContext:
    return ToolContext("c1", "call", machine)


def tool(name: str) -> ChatTool:
    return ChatTool(name, SeenScreens(), "me", ToolSelection())


def test_the_image_stays_out_of_the_step() -> None:
    machine = FakeMachine({"/api/v0/desktop": SCREEN, "/api/v0/desktop/action": SHOWN})
    look = tool("computer_look")
    outcome = asyncio.run(look.call({}, context(machine)))
    assert look.spec.name == "computer_look"
    assert not outcome.is_error
    assert "cG5n" not in str(outcome.value)
    found = look.result(outcome)
    assert found.image == McpImage(b"png", "image/png")
    assert found.content["frame_id"] == "f-1"
    assert found.text.startswith("The screen, as it is now.")


def test_each_request_of_a_call_has_an_id_of_its_own() -> None:
    machine = FakeMachine({"/api/v0/desktop": SCREEN, "/api/v0/desktop/action": SHOWN})
    asyncio.run(tool("computer_look").call({}, context(machine)))
    assert machine.ids == ["call.1", "call.2"]


def test_what_the_chat_masks_is_masked_in_the_result() -> None:
    found = tool("computer_find").result(ToolOutcome({"text": "e1 link ••••", "more": 0}))
    assert (found.text, found.content) == ("e1 link ••••", {"more": 0})


def test_failures_become_errors() -> None:
    refused = MachineRefused(409, "The desktop is in use.", "Ann is in control", "human_in_control")
    for error, text in ((refused, "human_in_control: Ann"), (MachineUnavailable("x"), "reached")):
        look = tool("computer_look")
        outcome = asyncio.run(look.call({}, context(FakeMachine({"/api/v0/desktop": error}))))
        found = look.result(outcome)
        assert found.is_error
        assert text in found.text


def test_a_machine_without_ids_serves_too() -> None:
    outcome = asyncio.run(tool("recording").call({"action": "list"}, context(PlainMachine())))
    assert outcome.value["text"] == "0 recordings."


def test_a_resource_of_the_desktop_is_read_as_a_step() -> None:
    steps = {"steps": [{"title": "Click"}]}
    one = {"id": "r1", "status": "stored"}
    machine = FakeMachine(
        {
            "/api/v0/desktop/recordings": {"recordings": [one]},
            "/api/v0/desktop/recordings/r1": steps,
        }
    )
    read = ReadTool("deskhand://recordings/r1", ToolSelection())
    outcome = asyncio.run(read.call({}, context(machine)))
    assert outcome.value["text"].endswith("1. Click")
    assert read.spec.name == "read_resource"
    missing = ReadTool("deskhand://recordings/r2", ToolSelection())
    assert "no recording" in str(asyncio.run(missing.call({}, context(machine))).error)
