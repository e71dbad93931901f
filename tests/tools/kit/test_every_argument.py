"""A tool call does what was asked, or nothing: every mistake in the arguments of every tool."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from deskhand.tools.agents.agent_context.agent_context import ChatSkill
from deskhand.tools.agents.agent_context.skill_tools import skill_tools
from deskhand.tools.kit.browser import BrowserTool
from deskhand.tools.kit.edit_files import EditFilesTool
from deskhand.tools.kit.execute import ExecuteTool
from deskhand.tools.kit.mcp_tools import ApproveMcpServerTool, CallMcpToolTool, ListMcpToolsTool
from deskhand.tools.kit.people import AttachFileTool, RequestHumanTool
from deskhand.tools.kit.process_list import ProcessListTool
from deskhand.tools.kit.process_output import ProcessOutputTool
from deskhand.tools.kit.process_signal import ProcessSignalTool
from deskhand.tools.kit.read_file import ReadFileTool
from deskhand.tools.kit.read_screen import ReadScreenTool
from deskhand.tools.kit.save_playbook import SavePlaybookTool
from deskhand.tools.kit.search_files import SearchFilesTool
from deskhand.tools.kit.subagents import subagent_tools
from deskhand.tools.kit.support import arguments as reading
from deskhand.tools.kit.support.spec import Tool, ToolContext, ToolOutcome
from deskhand.tools.kit.type_secret import TypeSecretTool
from deskhand.tools.kit.wait_for import WaitForTool
from deskhand.tools.kit.write_file import WriteFileTool
from deskhand.tools.templates.list_tool import ListTemplatesTool
from tests.mistakes import Mistake, mistakes_in

Json = dict[str, Any]
CHAT = "00000000-0000-0000-0000-000000000007"


class Reply(dict[str, Any]):
    """An answer in which everything is there, and is nothing."""

    def __missing__(self, key: str) -> "Reply":
        return Reply()


class Doers:
    """All that a tool may have done: machine, people, subagents, stores. It notes what was."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        async def do(*_: Any, **__: Any) -> Reply:
            self.done.append(name)
            return Reply()

        return do

    def given(self, _: Any) -> tuple[Any, ...]:
        """Note a question for secrets."""
        self.done.append("given")
        return ()

    def all(self) -> tuple[Any, ...]:
        """Note a list of templates."""
        self.done.append("all")
        return ()


SPAWN: Json = {
    "prompt": "Do it.",
    "title": "It",
    "model": "m",
    "effort": "low",
    "desktop": "own",
    "egress": "list",
    "allow": ["a.example"],
    "without_execute": False,
    "approval": "risky",
    "domains": ["a.example"],
    "look_only": False,
    "workdir": "w",
    "template": "t",
    "profile": "p",
    "files": [],
    "timeout_seconds": 60,
    "record": True,
    "budget": {"steps": 5, "minutes": 1.5, "tokens": 100, "usd": 0.5},
}
EDIT: Json = {"path": "/a", "old_text": "x", "new_text": "", "replace_all": True}
GOOD: dict[str, Json] = {
    "execute": {"command": "ls", "timeout": "5s", "workdir": "/", "run_in_background": False},
    "process_output": {"process_id": "p", "wait_timeout": "0s"},
    "process_list": {},
    "process_signal": {"process_id": "p", "signal": "kill", "escalate_after_ms": 5},
    "read_file": {"path": "/a", "offset": 1, "limit": 2},
    "write_file": {"path": "/a", "content": ""},
    "edit_files": {"edits": [EDIT, EDIT]},
    "search_files": {
        **{"path": "/", "pattern": "x", "glob": "*.py", "literal": True, "ignore_case": True},
        **{"offset": 0, "limit": 5},
    },
    "read_screen": {"interactive": True, "offset": 0},
    "wait_for": {
        **{"text": "a", "window": "b", "changed_region": [0, 0, 9, 9], "quiet_ms": 100},
        **{"process": "p", "url": "u", "timeout_seconds": 5},
    },
    "browser": {
        **{"action": "left_click", "target": {"type": "ref", "ref": "ref_7"}},
        **{"modifiers": "ctrl", "tab_id": "t"},
    },
    "spawn_computer_use_agent": SPAWN,
    "spawn_agent": {"type": "general", **SPAWN},
    "wait_agent": {"chat_ids": [CHAT], "mode": "any", "timeout_seconds": 5},
    "message_agent": {"chat_id": CHAT, "message": "Hi", "interrupt": True},
    "interrupt_agent": {"chat_id": CHAT},
    "close_agent": {"chat_id": CHAT},
    "list_agents": {"limit": 5, "offset": 0},
    "attach_file": {"path": "/a"},
    "request_human": {"reason": "Sign in."},
    "save_playbook": {"chat_id": CHAT, "name": "n", "replace": True},
    "type_secret": {"name": "n"},
    "list_mcp_tools": {"refresh": True},
    "call_mcp_tool": {"tool_name": "a__b", "arguments": {"any": None}},
    "approve_mcp_server": {"server": "a"},
    "read_skill": {"name": "forms"},
    "read_skill_file": {"name": "forms", "path": "a"},
    "list_desktop_templates": {"query": "a", "page": 1},
}
"""Arguments of each tool, with all that it has."""


def tools_on(doers: Any) -> dict[str, Tool]:
    """Return every tool, over doubles that note what is done."""
    every: list[Tool] = [
        ExecuteTool(),
        ProcessOutputTool(),
        ProcessListTool(),
        ProcessSignalTool(),
        ReadFileTool(),
        WriteFileTool(),
        EditFilesTool(),
        SearchFilesTool(),
        ReadScreenTool(),
        WaitForTool(lambda _: doers),
        BrowserTool(lambda _: doers),
        AttachFileTool(doers),
        RequestHumanTool(doers),
        SavePlaybookTool(doers),
        TypeSecretTool(doers),
        ListTemplatesTool(doers, doers.uses),
        ListMcpToolsTool(doers),
        CallMcpToolTool(doers),
        ApproveMcpServerTool(doers),
    ]
    every += subagent_tools(doers)
    every += skill_tools([ChatSkill("forms", "", "/s", "/s/SKILL.md")]).values()
    return {tool.spec.name: tool for tool in every}


def used(name: str, arguments: Any) -> tuple[ToolOutcome | None, list[str]]:
    """Return the outcome of a call, if it has one over doubles, and what was done."""
    doers: Any = Doers()
    call = tools_on(doers)[name].call(arguments, ToolContext(CHAT, "call-1", doers))
    outcome = None
    # The doubles' replies are empty, on which a tool that works may fail.
    with suppress(TypeError, ValueError, KeyError, AttributeError):
        outcome = asyncio.run(call)
    return outcome, doers.done


def all_mistakes() -> Iterator[Any]:
    for name, tool in tools_on(Doers()).items():
        schema = tool.spec.schema
        for mistake in mistakes_in(schema, GOOD[name]):
            yield pytest.param(name, mistake, id=f"{name}: {mistake}")


@pytest.mark.parametrize(("name", "mistake"), [*all_mistakes()])
def test_a_call_with_a_mistake_does_nothing_and_names_it(name: str, mistake: Mistake) -> None:
    outcome, done = used(name, mistake.arguments)
    assert done == []
    assert outcome is not None
    assert outcome.error is not None
    assert mistake.field in outcome.error
    if mistake.nearest:
        assert f"did you mean {mistake.nearest}?" in outcome.error


@pytest.mark.parametrize("name", GOOD)
def test_a_call_without_a_mistake_does_something(name: str) -> None:
    assert used(name, GOOD[name])[1]
    # Models send null for an argument that they leave out, and say what a call is for.
    required = tools_on(Doers())[name].spec.schema.get("required", ())
    nulls = {key: value if key in required else None for key, value in GOOD[name].items()}
    kept = nulls if name not in ("browser", "wait_for", "wait_agent", "search_files") else {}
    if kept:
        assert used(name, {**kept, "model_intent": "to see"})[1]


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize("arguments", [[], ["ls"], "ls", 5, None])
def test_arguments_that_are_no_object_do_nothing(name: str, arguments: Any) -> None:
    outcome, done = used(name, arguments)
    assert done == []
    assert name == "browser" or (outcome is not None and outcome.is_error)


def test_every_tool_has_an_example() -> None:
    def leaves(kind: type[Any]) -> set[type[Any]]:
        below: list[type] = [
            one for one in kind.__subclasses__() if one.__module__.startswith("deskhand.")
        ]
        return set[type[Any]]().union(*map(leaves, below)) if below else {kind}

    there = tools_on(Doers())
    kinds = {type(tool) for tool in there.values()}
    assert leaves(reading.CheckedTool) <= kinds
    assert there.keys() == GOOD.keys()
    for name, tool in there.items():
        own = set(tool.spec.schema["properties"]) - {"model_intent"}
        # One member of the browser has not all of its fields; chat_id is instead of chat_ids.
        assert name in ("browser", "wait_agent") or own == GOOD[name].keys()
