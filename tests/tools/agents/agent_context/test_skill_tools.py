import asyncio
from typing import Any

import pytest

from deskhand.tools.agents.agent_context.agent_context import ChatSkill
from deskhand.tools.agents.agent_context.skill_tools import LARGEST, skill_tools
from deskhand.tools.kit.support.spec import MachineRefused, ToolOutcome
from tests.tools.kit.machine import FakeMachine

SKILL = ChatSkill("forms", "Fill forms.", "/s/forms", "/s/forms/SKILL.md")
CONTENT = b"---\nname: forms\n---\nDo <!-- hidden -->it."


def called(tool: str, machine: FakeMachine, **arguments: Any) -> ToolOutcome:
    return asyncio.run(skill_tools([SKILL])[tool].call(arguments, machine.context()))


def test_without_skills_there_are_no_tools() -> None:
    assert skill_tools(()) == {}


def test_a_skill_is_read_with_the_list_of_its_files() -> None:
    machine = FakeMachine()
    machine.answer("/read-file", CONTENT)
    names = ("SKILL.md", "a/b.txt", ".git/x", "c.json")
    machine.answer("/search", {"matches": [{"path": f"/s/forms/{name}"} for name in names]})
    assert called("read_skill", machine, name=" forms ").value == {
        "name": "forms",
        "dir": "/s/forms",
        "body": "Do it.",
        "files": ["a/b.txt", "c.json"],
    }


@pytest.mark.parametrize("tool", ["read_skill", "read_skill_file"])
def test_an_unknown_skill_is_an_error(tool: str) -> None:
    path = {"path": "a"} if tool == "read_skill_file" else {}
    error = called(tool, FakeMachine(), name="other", **path).error
    assert error == 'skill "other" not found; there are forms'
    assert called(tool, FakeMachine(), nam="forms").error is not None


def test_a_file_of_a_skill_is_read() -> None:
    machine = FakeMachine()
    machine.answer("/read-file", b"text\r\n", {"a": 1}, b"b" * (LARGEST + 1), b"\0")
    read = [called("read_skill_file", machine, name="forms", path="a/b.txt") for _ in range(4)]
    assert read[0].value == {"content": "text"}
    assert machine.asked[0].params["path"] == "/s/forms/a/b.txt"
    assert read[1].value == {"content": '{\n  "a": 1\n}'}
    assert read[2].value == {"content": "b" * LARGEST, "truncated": True}
    assert read[3].error == "the file is not a text"


@pytest.mark.parametrize(
    "path", ["/etc/x", "../x", "a/../../x", ".git/x", "a/.x", "a//b", "a/", "\0"]
)
def test_a_path_stays_in_the_directory(path: str) -> None:
    assert called("read_skill_file", FakeMachine(), name="forms", path=path).is_error


def test_what_the_machine_refuses_is_an_error() -> None:
    machine = FakeMachine()
    machine.answer("/read-file", MachineRefused(404, "no such file"))
    assert called("read_skill", machine, name="forms").error == "no such file"
    assert called("read_skill_file", machine, name="forms", path="a").error == "no such file"
