import asyncio
from typing import Any

import pytest

from deskhand.tools.kit.read_file import ReadFileTool
from deskhand.tools.kit.support.spec import Json, MachineUnavailable, ToolOutcome
from tests.tools.kit.machine import FakeMachine


def read(machine: FakeMachine, arguments: Json) -> ToolOutcome:
    return asyncio.run(ReadFileTool().call(arguments, machine.context()))


def test_offset_and_limit_are_sent_as_parameters() -> None:
    machine = FakeMachine()
    answer = {"success": True, "content": "1\ta", "file_size": 1, "lines_read": 1, "total_lines": 1}
    machine.answer("/read-file-lines", answer)
    value = read(machine, {"path": " /f ", "offset": 2, "limit": "3"}).value
    assert value == {"content": "1\ta", "file_size": 1, "lines_read": 1, "total_lines": 1}
    assert machine.asked[0].params == {
        "path": "/f",
        "partial": "true",
        "offset": "2",
        "limit": "3",
    }


def test_an_unsuccessful_response_is_an_error() -> None:
    machine = FakeMachine()
    machine.answer("/read-file-lines", {"success": False, "error": "it does not exist"})
    assert read(machine, {"path": "/f"}).error == "it does not exist"


def test_an_unreachable_machine_is_an_error() -> None:
    machine = FakeMachine()
    machine.answer("/read-file-lines", MachineUnavailable("gone"))
    assert read(machine, {"path": "/f"}).error == "gone"
    machine.answer("/read-file-lines", b"<html>")
    assert read(machine, {"path": "/f"}).error
    assert ReadFileTool().spec.name == "read_file"


@pytest.mark.parametrize("arguments", [{}, {"path": "/f", "offset": "first"}])
def test_arguments_that_cannot_be_read_reach_no_machine(arguments: Json) -> None:
    machine = FakeMachine()
    assert read(machine, arguments).error
    assert machine.asked == []


def directory(machine: FakeMachine, **listing: Any) -> None:
    machine.answer("/read-file-lines", {"success": False, "error": "not a file: /d"})
    machine.answer("/list-directory", listing)


def test_a_directory_is_listed_by_page_with_numbered_names() -> None:
    machine = FakeMachine()
    entries = [{"name": name, "is_dir": name == "src"} for name in ("a", "b", "src")]
    directory(machine, contents=entries, absolute_path=["d"], absolute_path_string="/d")
    assert read(machine, {"path": "/d", "offset": 2, "limit": 1}).value == {
        "is_directory": True,
        "absolute_path": ["d"],
        "absolute_path_string": "/d",
        "content": "2\tb\n",
        "entries_read": 1,
        "total_entries": 3,
        "truncated": True,
    }
    whole = read(machine, {"path": "/d"}).value
    assert whole["content"] == "1\ta\n2\tb\n3\tsrc/\n"
    assert whole["truncated"] is False


def test_an_offset_behind_the_last_entry_is_an_error_but_an_empty_directory_is_none() -> None:
    machine = FakeMachine()
    directory(machine, contents=[])
    assert read(machine, {"path": "/d"}).value["content"] == ""
    outcome = read(machine, {"path": "/d", "offset": 2})
    assert outcome.error == "offset 2 is beyond the end: the directory has 0 entries"
