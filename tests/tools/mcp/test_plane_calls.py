import asyncio
from typing import Any
from uuid import uuid4

import pytest
from starlette.requests import Request

from deskhand.desktop.mcp.errors import McpError, UnknownMcpTool
from deskhand.desktop.mcp.ports import McpCaller
from deskhand.tools.conversation.errors import ChatError
from deskhand.tools.conversation.views import ChatView, StepView
from deskhand.tools.kit.support.spec import Json, ToolOutcome
from deskhand.tools.mcp.plane_calls import PlaneCallers
from deskhand.vncbridge.auth.policy import Principal
from tests.tools.control_plane.fakes import DEFAULT_CHAT, FakeChats

HERE = "http://here:7777"


class Plane:
    """The callers of a control plane of fakes."""

    def __init__(self) -> None:
        self.chats = FakeChats()
        self.above: dict[str, set[str]] = {}
        self.callers = PlaneCallers(self.chats, self._owning, HERE)
        self.state: Any = {}

    async def _owning(self, kind: str, name: str) -> frozenset[str]:
        assert kind == "chat"
        return frozenset({name}) | self.above.get(name, set())

    def caller(
        self, query: bytes = b"", chat: str = "", scopes: tuple[str, ...] = ("admin",)
    ) -> McpCaller:
        headers = [(b"deskhand-chat-id", chat.encode())] if chat else []
        scope = {
            "type": "http",
            "method": "POST",
            "path": "/mcp",
            "query_string": query,
            "headers": headers,
            "state": {"principal": Principal("me", scopes)},
        }
        self.state = scope["state"]
        return self.callers(Request(scope))

    def call(self, name: str, arguments: Json | None = None, **caller: Any) -> Any:
        calls = self.caller(**caller).calls
        return asyncio.run(calls.call(name, arguments or {}))


def test_a_call_belongs_to_the_default_chat_of_its_token() -> None:
    plane = Plane()
    plane.chats.outcome = ToolOutcome({"success": True, "exit_code": 0, "output": "hi"})
    found = plane.call("execute", {"command": "echo hi", "timeout": "5m"})
    assert found.text == "Exit code 0.\nhi"
    name, arguments, chat, call_id = plane.chats.asked[-1]
    assert (name, chat) == ("execute", DEFAULT_CHAT)
    assert arguments == {"command": "echo hi", "timeout": "44s"}
    # For the audit log.
    assert plane.state["tool_call"] == {"tool": "execute", "chat": DEFAULT_CHAT}
    assert call_id.startswith("mcp_")


@pytest.mark.parametrize("name", ["process_list", "computer_look"])
def test_a_call_is_noted_with_the_desktop_on_which_it_worked(name: str) -> None:
    plane = Plane()
    chat = plane.chats.add(desktop_id="d1")
    plane.call(name, chat=chat.id)
    assert plane.state["tool_call"] == {"tool": name, "chat": chat.id, "desktop": "d1"}


def test_the_header_or_the_argument_names_another_chat() -> None:
    plane = Plane()
    named, argued = plane.chats.add(), plane.chats.add()
    plane.call("process_list", chat=named.id)
    assert plane.chats.asked[-1][2] == named.id
    plane.call("process_list", {"chat": argued.id}, chat=named.id)
    _, arguments, chat, _ = plane.chats.asked[-1]
    assert (chat, arguments) == (argued.id, {})
    assert plane.call("process_list", {"chat": "x"}).text.endswith("chat must be the id of a chat")
    assert plane.call("process_list", {"chat": str(uuid4())}).is_error


def test_a_credential_of_a_chat_speaks_for_it_and_those_below_only() -> None:
    plane = Plane()
    own, child, other = (plane.chats.add() for _ in range(3))
    plane.above[child.id] = {own.id}
    scopes = (f"chat:{own.id}",)
    plane.call("process_list", scopes=scopes)
    assert plane.chats.asked[-1][2] == own.id
    plane.call("process_list", {"chat": child.id}, scopes=scopes)
    assert plane.chats.asked[-1][2] == child.id
    refused = plane.call("process_list", {"chat": other.id}, scopes=scopes)
    assert "another chat" in refused.text
    calls = plane.caller(scopes=scopes).calls
    with pytest.raises(McpError, match="not yours"):
        asyncio.run(calls.answer(other.id, "yes"))
    asyncio.run(calls.answer(child.id, "yes"))
    assert plane.chats.asked[-1] == ("answer", child.id, "yes")


def test_a_tool_of_the_desktop_is_a_call_of_the_chat_too() -> None:
    plane = Plane()
    plane.chats.outcome = ToolOutcome({"text": "Seen.", "frame_id": "f-1"})
    found = plane.call("computer_look", {"region": [0, 0, 1, 1]})
    assert (found.text, found.content) == ("Seen.", {"frame_id": "f-1"})
    tool, arguments, _, _ = plane.chats.asked[-1]
    assert (tool.spec.name, arguments) == ("computer_look", {"region": [0, 0, 1, 1]})


def test_recordings_have_links_through_the_control_plane() -> None:
    plane = Plane()
    chat = plane.chats.add(desktop_id="d1")
    video = "/api/v0/desktop/recordings/r1/video"
    value = {"text": f"video {video}", "recordings": [{"id": "r1", "video": video}]}
    plane.chats.outcome = ToolOutcome(value)
    found = plane.call("recording", {"action": "list"}, chat=chat.id)
    link = f"{HERE}/api/v0/desktops/d1/desktop/recordings/r1/video"
    assert found.text == f"video {link}"
    assert found.content["recordings"][0]["video"] == link


def test_an_agent_that_asks_is_reported_with_its_page() -> None:
    plane = Plane()
    asks = {"chat_id": "c1", "requires_action": {"kind": "human", "question": "Who?"}}
    plane.chats.outcome = ToolOutcome(asks)
    found = plane.call("wait_agent", {"chat_id": str(uuid4())})
    assert found.question is not None
    assert found.content["run_url"] == f"{HERE}/runs/c1"
    assert f"A person must answer at {HERE}/runs/c1" in found.text
    assert plane.chats.asked[-1][1]["timeout_seconds"] == 44.0


def test_errors_of_tools_and_of_chats_are_results() -> None:
    plane = Plane()
    plane.chats.outcome = ToolOutcome(error="no such file")
    assert plane.call("read_file", {"path": "/a"}).text == "no such file"
    plane.chats.outcome = ChatError("no model")
    found = plane.call("spawn_computer_use_agent", {"prompt": "x"})
    assert (found.is_error, found.text) == (True, "no model")


def test_the_query_selects_the_tools() -> None:
    plane = Plane()
    calls = plane.caller(b"tools=agents&read_only=1").calls
    assert [tool.name for tool in calls.tools()] == ["wait_agent", "list_agents"]
    assert "computer_look" not in calls.instructions
    with pytest.raises(UnknownMcpTool):
        asyncio.run(calls.call("execute", {}))


def test_the_runs_of_agents_are_resources() -> None:
    plane = Plane()
    chat = plane.chats.add(title="Buy milk", recording_file_ids=("f1",))
    plane.chats.steps_of[chat.id] = (_step(title="Click"), _step(title="", error="gone"))
    calls = plane.caller().calls
    listed = asyncio.run(calls.resources())
    uri = f"deskhand://recordings/{chat.id}"
    assert uri in [one["uri"] for one in listed]
    text = asyncio.run(calls.read(uri))["text"]
    assert text.splitlines() == [
        f"Buy milk (waiting): {HERE}/runs/{chat.id}",
        f"video {HERE}/api/v0/files/f1",
        "1. Click",
        "2. computer - failed: gone",
    ]


def test_a_recording_of_the_own_desktop_is_read_there() -> None:
    plane = Plane()
    with_desktop, without = plane.chats.add(desktop_id="d1"), plane.chats.add()
    uri = f"deskhand://recordings/{uuid4()}"
    plane.chats.outcome = ToolOutcome({"text": "1. Click"})
    found = asyncio.run(plane.caller(chat=with_desktop.id).calls.read(uri))
    assert found == {"mimeType": "text/plain", "text": "1. Click"}
    plane.chats.outcome = ToolOutcome(error="there is no recording")
    for chat in (with_desktop, without):
        with pytest.raises(McpError, match="there is no re"):
            asyncio.run(plane.caller(chat=chat.id).calls.read(uri))
    with pytest.raises(McpError, match="no resource"):
        asyncio.run(plane.caller().calls.read("deskhand://nothing"))


def test_a_screenshot_that_is_refused_is_an_error() -> None:
    plane = Plane()
    plane.chats.outcome = ToolOutcome(error="human_in_control: Ann")
    with pytest.raises(McpError, match="Ann"):
        asyncio.run(plane.caller().calls.read("deskhand://desktop/screenshot"))


def test_an_answer_without_a_question_is_an_error() -> None:
    plane = Plane()
    chat: ChatView = plane.chats.add()
    plane.chats.failure = ChatError("it asks nothing")
    with pytest.raises(McpError, match="it asks nothing"):
        asyncio.run(plane.caller().calls.answer(chat.id, "yes"))


def _step(**fields: Any) -> StepView:
    usual: dict[str, Any] = {
        **{"id": "s", "chat_id": "c", "turn": 1, "index": 0, "tool_call_id": "t"},
        **{"tool": "computer", "title": "", "action": None, "arguments": {}, "status": "done"},
        **{"started_at": 1.0, "ended_at": 2.0, "error": None, "timings": {}, "details": {}},
        **{"screenshot_file_id": None, "video_start": None, "video_end": None},
    }
    return StepView(**{**usual, **fields})
