import asyncio

from deskhand.tools.kit.read_file import ReadFileTool
from deskhand.tools.kit.support.spec import Json, MachineUnavailable, ToolOutcome
from tests.tools.kit.machine import FakeMachine


def read(machine: FakeMachine, arguments: Json) -> ToolOutcome:
    return asyncio.run(ReadFileTool().call(arguments, machine.context()))


def test_what_fits_is_asked_for() -> None:
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


def test_what_is_wrong_with_the_file_is_an_error() -> None:
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
