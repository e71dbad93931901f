import asyncio

from deskhand.tools.kit.process_list import ProcessListTool
from deskhand.tools.kit.support.spec import MachineRefused
from tests.tools.kit.machine import FakeMachine


def test_a_refusal_is_told() -> None:
    machine = FakeMachine()
    machine.answer("/list", MachineRefused(500, "broken"))
    outcome = asyncio.run(ProcessListTool().call({}, machine.context()))
    assert outcome.error == "list processes: broken"
    assert ProcessListTool().spec.name == "process_list"
