import asyncio
import uuid
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

from deskhand.tools.kit.subagents import SubagentRequest, subagent_tools
from deskhand.tools.kit.support.spec import Json, MachineUnavailable, ToolContext, ToolOutcome

CHAT = str(uuid.UUID(int=7))
OTHER = str(uuid.UUID(int=8))


@dataclass
class FakeSubagents:
    asked: list[tuple[Any, ...]] = field(default_factory=list)

    async def spawn(self, caller_id: str, order: SubagentRequest) -> Json:
        self.asked.append(("spawn", caller_id, order))
        return {"chat_id": CHAT}

    async def wait(self, caller_id: str, chat_id: str, seconds: float) -> Json:
        self.asked.append(("wait", caller_id, chat_id, seconds))
        return {}

    async def wait_for_all(
        self, caller_id: str, chat_ids: list[str], seconds: float, mode: Literal["all", "any"]
    ) -> Json:
        self.asked.append(("wait", caller_id, chat_ids, seconds, mode))
        return {}

    async def message(self, caller_id: str, chat_id: str, message: str, interrupt: bool) -> Json:
        self.asked.append(("message", caller_id, chat_id, message, interrupt))
        return {}

    async def interrupt(self, caller_id: str, chat_id: str) -> Json:
        self.asked.append(("interrupt", caller_id, chat_id))
        return {}

    async def close(self, caller_id: str, chat_id: str) -> Json:
        self.asked.append(("close", caller_id, chat_id))
        return {}

    async def list(self, caller_id: str, limit: int, offset: int) -> Json:
        self.asked.append(("list", caller_id, limit, offset))
        return {}


class NoMachine:
    async def request(self, *_: Any, **__: Any) -> Any:
        raise MachineUnavailable("these tools need none")


def _use(name: str, arguments: Json) -> tuple[ToolOutcome, list[tuple[Any, ...]]]:
    subagents = FakeSubagents()
    tools = {tool.spec.name: tool for tool in subagent_tools(subagents)}
    context = ToolContext("parent", "toolu_1", NoMachine())
    return asyncio.run(tools[name].call(arguments, context)), subagents.asked


def test_each_tool_has_an_object_schema_and_a_description() -> None:
    specs = [tool.spec for tool in subagent_tools(FakeSubagents())]
    assert [spec.name for spec in specs] == [
        "spawn_computer_use_agent",
        "spawn_agent",
        "wait_agent",
        "message_agent",
        "interrupt_agent",
        "close_agent",
        "list_agents",
    ]
    for spec in specs:
        assert spec.schema["type"] == "object"
        assert spec.description


def test_the_description_of_wait_names_default_timeout_and_return_conditions() -> None:
    wait = next(t.spec for t in subagent_tools(FakeSubagents()) if t.spec.name == "wait_agent")
    for fact in ("300", "as soon as", "goes on"):
        assert fact in wait.description


@pytest.mark.parametrize(
    ("arguments", "order"),
    [
        ({"prompt": "Go"}, SubagentRequest("Go")),
        (
            {"prompt": "Go", "title": "T", "model": " m "},
            SubagentRequest("Go", title="T", model="m"),
        ),
        ({"prompt": "Go", "effort": "low"}, SubagentRequest("Go", effort="low")),
        ({"prompt": "Go", "effort": ""}, SubagentRequest("Go")),
        ({"prompt": "Go", "desktop": "shared"}, SubagentRequest("Go", desktop="shared")),
        ({"prompt": "Go", "desktop": "", "model": ""}, SubagentRequest("Go")),
        ({"prompt": "Go", "budget": {"steps": 3}}, SubagentRequest("Go", budget={"steps": 3})),
        (
            {"prompt": "Go", "budget": {"minutes": 0.5}},
            SubagentRequest("Go", budget={"minutes": 0.5}),
        ),
        ({"prompt": "Go", "budget": {"usd": 0.5}}, SubagentRequest("Go", budget={"usd": 0.5})),
    ],
)
def test_spawning_passes_on_what_was_asked(arguments: Json, order: SubagentRequest) -> None:
    outcome, asked = _use("spawn_computer_use_agent", arguments)
    assert outcome == ToolOutcome({"chat_id": CHAT})
    assert asked == [("spawn", "parent", order)]


@pytest.mark.parametrize(
    ("name", "arguments", "error"),
    [
        ("spawn_computer_use_agent", {}, "prompt is required"),
        ("spawn_computer_use_agent", {"prompt": " \n"}, "prompt is required"),
        ("spawn_computer_use_agent", {"prompt": 7}, "prompt must be a text"),
        ("spawn_computer_use_agent", {"prompt": "x", "modle": "m"}, "did you mean model?"),
        ("wait_agent", {"chat_id": CHAT, "timeout": 5}, "unknown argument timeout"),
        ("spawn_computer_use_agent", {"prompt": "x", "approval": "never"}, "approval"),
        ("spawn_computer_use_agent", {"prompt": "x", "budget": 3}, "budget must be an object"),
        (
            "spawn_computer_use_agent",
            {"prompt": "x", "budget": {"euros": 1}},
            "unknown argument budget.euros",
        ),
        ("spawn_computer_use_agent", {"prompt": "x", "budget": {"steps": 0}}, "more than 0"),
        ("spawn_computer_use_agent", {"prompt": "x", "budget": {"usd": 0}}, "more than 0"),
        ("spawn_computer_use_agent", {"prompt": "x", "budget": {"steps": 1.5}}, "a whole number"),
        ("spawn_computer_use_agent", {"prompt": "x", "budget": {"steps": True}}, "be a number"),
        ("spawn_computer_use_agent", {"prompt": "x", "budget": {"tokens": "1"}}, "be a number"),
        ("spawn_computer_use_agent", {"prompt": "x", "egress": "all"}, "egress must be one of"),
        ("spawn_computer_use_agent", {"prompt": "x", "approval": "no"}, "approval must be one of"),
        ("spawn_computer_use_agent", {"prompt": "x", "egress": 1}, "egress must be one of"),
        ("spawn_computer_use_agent", {"prompt": "x", "allow": "a.example"}, "allow must be a list"),
        ("spawn_computer_use_agent", {"prompt": "x", "allow": [1]}, "allow[0] must be a text"),
        ("spawn_computer_use_agent", {"prompt": "x", "workdir": "/etc"}, "must be a relative path"),
        ("spawn_agent", {"prompt": "x"}, "type is required"),
        ("spawn_agent", {"prompt": "x", "type": "root"}, "type must be one of general, explore"),
        ("wait_agent", {}, "give either chat_id or chat_ids"),
        ("wait_agent", {"chat_id": 7}, "chat_id must be a valid UUID"),
        ("wait_agent", {"chat_id": "seven"}, "chat_id must be a valid UUID"),
        ("wait_agent", {"chat_ids": []}, "give either chat_id or chat_ids"),
        ("wait_agent", {"chat_id": CHAT, "chat_ids": [CHAT]}, "give either"),
        ("wait_agent", {"chat_ids": CHAT}, "chat_ids must be a list"),
        ("wait_agent", {"chat_ids": [CHAT, None]}, "chat_ids[1] must be a valid UUID"),
        ("wait_agent", {"chat_ids": [CHAT], "mode": "some"}, "mode must be one of all, any"),
        ("wait_agent", {"chat_id": CHAT, "timeout_seconds": "5m"}, "must be a number"),
        ("wait_agent", {"chat_id": CHAT, "timeout_seconds": True}, "must be a number"),
        ("wait_agent", {"chat_id": CHAT, "timeout_seconds": float("nan")}, "must be a number"),
        ("message_agent", {"chat_id": CHAT}, "message is required"),
        ("message_agent", {"message": "Hi"}, "chat_id is required"),
        ("message_agent", {"chat_id": CHAT, "message": "Hi", "interrupt": 3}, "true or false"),
        ("interrupt_agent", {}, "chat_id is required"),
        ("close_agent", {"chat_id": ""}, "chat_id must be a valid UUID"),
        ("list_agents", {"limit": -1}, "limit must be a whole number"),
    ],
)
def test_bad_arguments_are_an_error_and_no_operation_runs(
    name: str, arguments: Json, error: str
) -> None:
    outcome, asked = _use(name, arguments)
    assert error in str(outcome.error)
    assert asked == []


@pytest.mark.parametrize(
    ("name", "arguments", "asked"),
    [
        ("wait_agent", {"chat_id": CHAT.upper()}, ("wait", "parent", CHAT, 0.0)),
        ("wait_agent", {"chat_id": CHAT, "timeout_seconds": 5}, ("wait", "parent", CHAT, 5.0)),
        (
            "wait_agent",
            {"chat_ids": [CHAT, OTHER, CHAT]},
            ("wait", "parent", [CHAT, OTHER], 0.0, "all"),
        ),
        (
            "wait_agent",
            {"chat_ids": [CHAT], "mode": "any"},
            ("wait", "parent", [CHAT], 0.0, "any"),
        ),
        (
            "message_agent",
            {"chat_id": CHAT, "message": "Hi", "interrupt": True},
            ("message", "parent", CHAT, "Hi", True),
        ),
        ("interrupt_agent", {"chat_id": CHAT}, ("interrupt", "parent", CHAT)),
        ("close_agent", {"chat_id": CHAT}, ("close", "parent", CHAT)),
        ("list_agents", {}, ("list", "parent", 10, 0)),
        ("list_agents", {"limit": 500, "offset": 3}, ("list", "parent", 50, 3)),
    ],
)
def test_good_arguments_are_passed_on(name: str, arguments: Json, asked: tuple[Any, ...]) -> None:
    assert _use(name, arguments) == (ToolOutcome({}), [asked])


def test_the_kind_of_agent_is_the_callers_choice() -> None:
    _, asked = _use("spawn_agent", {"prompt": "x", "type": "explore"})
    assert asked == [("spawn", "parent", SubagentRequest("x", kind="explore"))]
