import asyncio
from dataclasses import replace
from typing import Any

import pytest

from deskhand.tools.kit.edit_files import EditFilesTool
from deskhand.tools.kit.execute import ExecuteTool
from deskhand.tools.kit.read_file import ReadFileTool
from deskhand.tools.kit.search_files import SearchFilesTool
from deskhand.tools.kit.support.spec import MachineUnavailable, Tool, ToolOutcome
from deskhand.tools.kit.write_file import WriteFileTool
from tests.tools.kit.machine import FakeMachine

Json = dict[str, Any]
EDIT = {"old_text": "a", "new_text": "b"}
CALLS: list[tuple[Tool, Json]] = [
    (ReadFileTool(), {"path": "a.txt"}),
    (WriteFileTool(), {"path": "a.txt", "content": "x"}),
    (SearchFilesTool(), {"path": "a.txt", "pattern": "x"}),
    (EditFilesTool(), {"edits": [{"path": "a.txt", **EDIT}, {"path": "/w/a.txt", **EDIT}]}),
]


def machine() -> FakeMachine:
    made = FakeMachine()
    made.answer("/context-config", {"working_dir": "/w", "parts": []})
    for route in ("/read-file-lines", "/write-file", "/search", "/edit-files"):
        made.answer(route, {"success": True, "matches": [], "files": []})
    made.answer("/start", {"id": "p1"})
    made.answer("/output", {"running": False, "exit_code": 0, "output": ""})
    return made


def called(tool: Tool, arguments: Json, on: FakeMachine, below: str = "") -> ToolOutcome:
    return asyncio.run(tool.call(arguments, replace(on.context(), workdir=below)))


@pytest.mark.parametrize(("tool", "arguments"), CALLS)
def test_tools_of_files_resolve_relative_paths(tool: Tool, arguments: Json) -> None:
    made = machine()
    assert not called(tool, arguments, made).is_error
    asked = made.asked[-1]
    assert "/w/a.txt" in str((asked.params, asked.json))
    assert len((asked.json or {}).get("files", [1])) == 1


@pytest.mark.parametrize(("tool", "arguments"), CALLS)
def test_without_the_directory_nothing_is_done(tool: Tool, arguments: Json) -> None:
    made = machine()
    made.answer("/context-config", MachineUnavailable("gone"))
    assert "gone" in str(called(tool, arguments, made).error)
    assert {asked.path for asked in made.asked} == {"/api/v0/context-config"}


@pytest.mark.parametrize(
    ("arguments", "below", "workdir"),
    [
        ({}, "", ""),
        ({}, "sub", "/w"),
        ({"workdir": "x"}, "", "/w/x"),
        ({"workdir": "/y"}, "", "/y"),
    ],
)
def test_a_command_runs_in_the_directory_of_its_chat(
    arguments: Json, below: str, workdir: str
) -> None:
    made = machine()
    called(ExecuteTool(), {"command": "ls", **arguments}, made, below)
    assert [one.json["workdir"] for one in made.to("/start")] == [workdir]
