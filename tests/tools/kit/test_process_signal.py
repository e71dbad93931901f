import asyncio

import pytest

from deskhand.tools.kit.process_signal import ProcessSignalTool
from deskhand.tools.kit.support.spec import Json, MachineRefused, ToolOutcome
from tests.tools.kit.machine import FakeMachine


def send(machine: FakeMachine, arguments: Json) -> ToolOutcome:
    return asyncio.run(ProcessSignalTool().call(arguments, machine.context()))


def test_a_signal_is_sent_with_its_escalation() -> None:
    machine = FakeMachine()
    machine.answer("/signal", {"message": "sent"})
    arguments = {"process_id": "p", "signal": "terminate", "escalate_after_ms": 500}
    assert send(machine, arguments).value == {"success": True, "message": "sent"}
    assert machine.asked[0].json == {"signal": "terminate", "escalate_after_ms": 500}
    assert machine.asked[0].path == "/api/v0/processes/p/signal"


@pytest.mark.parametrize("arguments", [{"signal": ""}, {"signal": "TERM"}])
def test_a_signal_that_is_none_is_answered_with_those_that_are(arguments: Json) -> None:
    outcome = send(FakeMachine(), {"process_id": "p"} | arguments)
    assert outcome.error is not None
    assert "terminate, kill, interrupt" in outcome.error


def test_without_an_escalation_none_is_sent() -> None:
    machine = FakeMachine()
    machine.answer("/signal", b"sent")
    assert send(machine, {"process_id": "p", "signal": "kill"}).value["message"] == ""
    assert machine.asked[0].json == {"signal": "kill"}
    assert ProcessSignalTool().spec.name == "process_signal"


def test_a_refusal_is_a_failure_of_the_call() -> None:
    machine = FakeMachine()
    machine.answer("/signal", MachineRefused(409, "It has ended."))
    value = send(machine, {"process_id": "p", "signal": "kill"}).value
    assert value == {"success": False, "error": "signal process: It has ended."}
