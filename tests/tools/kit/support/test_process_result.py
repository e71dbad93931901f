import asyncio

import pytest

from deskhand.tools.kit.support.process_result import (
    MOST_BYTES,
    output_tail,
    read_output,
    result_fields,
    wait_output,
)
from deskhand.tools.kit.support.spec import MachineUnavailable
from tests.tools.kit.machine import FakeMachine


def test_the_newest_bytes_are_kept_from_a_character_boundary_on() -> None:
    assert output_tail("short") == "short"
    assert output_tail("a" * MOST_BYTES + "b") == "a" * (MOST_BYTES - 1) + "b"
    cut = output_tail("☃" * MOST_BYTES)
    assert len(cut.encode()) <= MOST_BYTES
    assert set(cut) == {"☃"}


def test_the_state_of_a_process_becomes_result_fields() -> None:
    killed = {"running": False, "exit_code": 137, "signal": "SIGKILL", "output": "", "command": "x"}
    assert result_fields(killed) == {
        "success": False,
        "exit_code": 137,
        "signal": "SIGKILL",
        "command": "x",
    }
    assert result_fields({"running": False, "output": "done"})["output"] == "done"
    assert result_fields({"running": True}) == {"success": True, "exit_code": 0, "running": True}


def test_an_id_from_a_model_stays_one_part_of_the_path() -> None:
    machine = FakeMachine()
    machine.answer("/output", {"running": False})
    asyncio.run(read_output(machine.context(), "../../desktop/action?x#y"))
    assert machine.asked[0].path == ("/api/v0/processes/..%2F..%2Fdesktop%2Faction%3Fx%23y/output")


def test_a_response_without_json_is_no_response() -> None:
    machine = FakeMachine()
    machine.answer("/output", b"<html>")
    with pytest.raises(MachineUnavailable):
        asyncio.run(wait_output(machine.context(), "p", 1))


def test_the_wait_for_the_process_is_a_parameter_of_the_request() -> None:
    machine = FakeMachine()
    machine.answer("/output", {"running": True})
    assert asyncio.run(wait_output(machine.context(), "p", 1.5)) == {"running": True}
    assert machine.asked[0].params == {"newest": "true", "wait": "true", "timeout_ms": "1500"}
