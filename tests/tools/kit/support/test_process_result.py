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


def test_the_newest_bytes_are_kept_from_a_whole_character_on() -> None:
    assert output_tail("short") == "short"
    assert output_tail("a" * MOST_BYTES + "b") == "a" * (MOST_BYTES - 1) + "b"
    cut = output_tail("☃" * MOST_BYTES)
    assert len(cut.encode()) <= MOST_BYTES
    assert set(cut) == {"☃"}


def test_the_state_of_a_process_is_told() -> None:
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


def test_an_answer_that_is_no_json_is_none() -> None:
    machine = FakeMachine()
    machine.answer("/output", b"<html>")
    with pytest.raises(MachineUnavailable):
        asyncio.run(wait_output(machine.context(), "p", 1))


def test_an_answer_is_waited_for_longer_than_the_process() -> None:
    machine = FakeMachine()
    machine.answer("/output", {"running": True})
    assert asyncio.run(wait_output(machine.context(), "p", 1.5)) == {"running": True}
    assert machine.asked[0].params == {"wait": "true", "timeout_ms": "1500"}
