import asyncio

from deskhand.tools.kit.process_output import ProcessOutputTool
from deskhand.tools.kit.support.spec import Json, MachineUnavailable, ToolOutcome
from tests.tools.kit.machine import FakeMachine


def read(machine: FakeMachine, arguments: Json) -> ToolOutcome:
    return asyncio.run(ProcessOutputTool().call(arguments, machine.context()))


def test_zero_seconds_read_the_output_without_waiting() -> None:
    machine = FakeMachine()
    machine.answer("/output", {"running": True, "output": "x"})
    value = read(machine, {"process_id": "p", "wait_timeout": "0s"}).value
    assert value["running"] is True
    assert machine.asked[0].params == {"newest": "true"}


def test_after_a_lost_wait_the_output_is_read_once() -> None:
    machine = FakeMachine()
    machine.answer("/output", MachineUnavailable("lost"), {"running": False, "exit_code": 0})
    assert read(machine, {"process_id": "p"}).value["success"] is True


def test_an_unreachable_machine_is_a_failure_of_the_call() -> None:
    machine = FakeMachine()
    machine.answer("/output", MachineUnavailable("gone"))
    value = read(machine, {"process_id": "p"}).value
    assert value == {"success": False, "error": "get process output: gone"}
    assert len(machine.asked) == 2


def test_a_duration_that_is_none_is_an_error() -> None:
    outcome = read(FakeMachine(), {"process_id": "p", "wait_timeout": "soon"})
    assert outcome.error
    assert "soon" in outcome.error


def test_the_spec_names_the_tool() -> None:
    assert ProcessOutputTool().spec.name == "process_output"
