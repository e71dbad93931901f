import asyncio

from tests.tools.kit.machine import FakeMachine
from tools.kit.process_list import ProcessListTool
from tools.kit.spec import MachineRefused


def test_a_refusal_is_told() -> None:
    machine = FakeMachine()
    machine.answer("/list", MachineRefused(500, "broken"))
    outcome = asyncio.run(ProcessListTool().call({}, machine.context()))
    assert outcome.error == "list processes: broken"
    assert ProcessListTool().spec.name == "process_list"
