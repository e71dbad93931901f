import asyncio

from deskhand.tools.kit.support.spec import Json, MachineRefused, ToolOutcome
from deskhand.tools.kit.write_file import WriteFileTool
from tests.tools.kit.machine import FakeMachine


def write(machine: FakeMachine, arguments: Json) -> ToolOutcome:
    return asyncio.run(WriteFileTool().call(arguments, machine.context()))


def test_a_refusal_is_an_error() -> None:
    machine = FakeMachine()
    machine.answer("/write-file", MachineRefused(403, "permission denied"))
    refused = write(machine, {"path": "/f", "content": "x"})
    assert (refused.error, refused.no_room) == ("permission denied", False)


def test_a_disk_without_room_is_named() -> None:
    machine = FakeMachine()
    machine.answer("/write-file", MachineRefused(507, "the disk is almost full"))
    refused = write(machine, {"path": "/f", "content": "x"})
    assert (refused.error, refused.no_room) == ("the disk is almost full", True)


def test_what_cannot_be_written_is_an_error() -> None:
    machine = FakeMachine()
    assert write(machine, {"content": "x"}).error == "path is required"
    assert write(machine, {"path": "/f", "content": "\ud800"}).error
    assert not machine.asked


def test_an_empty_file_can_be_written() -> None:
    machine = FakeMachine()
    machine.answer("/write-file", {})
    assert write(machine, {"path": "/f", "content": ""}).value == {"ok": True}
    assert machine.asked[0].content == b""
    assert WriteFileTool().spec.name == "write_file"
