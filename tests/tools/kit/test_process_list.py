import asyncio

from deskhand.tools.kit.process_list import ProcessListTool
from deskhand.tools.kit.support.spec import MachineRefused, ToolOutcome
from tests.tools.kit.machine import FakeMachine


def test_the_result_is_what_the_machine_lists() -> None:
    machine = FakeMachine()
    processes = {"processes": [{"id": "p", "command": "sleep 9", "running": True}]}
    machine.answer("/list", processes)
    outcome = asyncio.run(ProcessListTool().call({}, machine.context()))
    assert outcome == ToolOutcome(processes)
    assert machine.asked[0].params == {"limit": "50"}


def test_a_refusal_is_an_error() -> None:
    machine = FakeMachine()
    machine.answer("/list", MachineRefused(500, "broken"))
    outcome = asyncio.run(ProcessListTool().call({}, machine.context()))
    assert outcome.error == "list processes: broken"
    assert ProcessListTool().spec.name == "process_list"
