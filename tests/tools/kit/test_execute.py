import asyncio
from dataclasses import replace
from typing import Any

import pytest

from deskhand.tools.kit.execute import ExecuteTool
from deskhand.tools.kit.support.spec import (
    MachineRefused,
    MachineUnavailable,
    NoMachine,
    ToolOutcome,
)
from tests.tools.kit.machine import Asked, FakeMachine

Json = dict[str, Any]
LOST = MachineUnavailable("connection lost")
STARTED = {"id": "p", "started": True, "age_ms": 0}
DONE = {"running": False, "exit_code": 0, "output": "ok"}
BUSY = {"running": True, "output": "so far"}


class FakeClock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def execute(
    machine: FakeMachine, arguments: Json, clock: FakeClock | None = None, call_id: str = "c"
) -> ToolOutcome:
    tool = ExecuteTool(clock=clock or FakeClock())
    return asyncio.run(tool.call(arguments, machine.context(call_id)))


def patient(machine: FakeMachine, clock: FakeClock) -> None:
    """Let every waiting request take all of its time."""

    def wait(asked: Asked) -> None:
        clock.now += int(asked.params.get("timeout_ms", 0)) / 1000

    machine.on_request = wait


def test_a_timeout_is_a_state_and_kills_nothing() -> None:
    machine, clock = FakeMachine(), FakeClock()
    machine.answer("/start", STARTED)
    machine.answer("/output", BUSY)
    patient(machine, clock)
    value = execute(machine, {"command": "make", "timeout": "2s"}, clock).value
    assert value["timed_out"] is True
    assert value["running"] is True
    assert value["success"] is False
    assert value["output"] == "so far"
    assert value["background_process_id"] == "p"
    assert value["wall_duration_ms"] == 2000
    assert "error" not in value
    assert "process_output" in value["note"]
    assert not machine.to("/signal")


def test_a_long_timeout_is_waited_for_in_parts() -> None:
    machine, clock = FakeMachine(), FakeClock()
    machine.answer("/start", STARTED)
    machine.answer("/output", BUSY, BUSY, DONE)
    patient(machine, clock)
    assert execute(machine, {"command": "make", "timeout": "12m"}, clock).value["success"]
    waits = [asked.params["timeout_ms"] for asked in machine.to("/output")[:2]]
    assert waits == ["300000", "300000"]


def test_a_lost_start_is_sent_again_with_the_same_id_and_its_age() -> None:
    machine = FakeMachine()
    machine.answer("/start", LOST, STARTED)
    machine.answer("/output", DONE)
    assert execute(machine, {"command": "make"}).value["output"] == "ok"
    first, second = (asked.json for asked in machine.to("/start"))
    assert first["tool_call_id"] == second["tool_call_id"] == "c"
    assert "call_age_ms" not in first
    assert second["call_age_ms"] > 0


def test_without_an_id_a_lost_start_is_not_sent_again() -> None:
    machine = FakeMachine()
    machine.answer("/start", LOST)
    value = execute(machine, {"command": "make"}, call_id="").value
    assert value["success"] is False
    assert "outcome unknown: connection lost" in value["error"]
    assert "process_list and process_output" in value["error"]
    assert len(machine.to("/start")) == 1


def test_without_a_machine_the_outcome_is_known() -> None:
    machine = FakeMachine()
    machine.answer("/start", NoMachine("no desktop"))
    assert execute(machine, {"command": "make"}) == ToolOutcome(error="no desktop")


def test_a_failed_read_after_the_timeout_reports_both() -> None:
    machine, clock = FakeMachine(), FakeClock()
    machine.answer("/start", STARTED | {"age_ms": 600_000})
    machine.answer("/output", LOST)
    value = execute(machine, {"command": "make", "timeout": "10m"}, clock).value
    assert "timed out after 10m0s, and then connection lost" in value["error"]
    assert (value["background_process_id"], value["wall_duration_ms"]) == ("p", 600_000)


def test_an_unreadable_response_to_the_start_counts_as_lost() -> None:
    machine = FakeMachine()
    machine.answer("/start", b"<html>", STARTED)
    machine.answer("/output", DONE)
    assert execute(machine, {"command": "make"}).value["success"]


def test_a_command_that_may_have_run_on_a_machine_before_is_not_run() -> None:
    machine = FakeMachine()
    machine.answer("/start", LOST, MachineRefused(409, "restarted: it may have run."))
    value = execute(machine, {"command": "make"}).value
    assert value["success"] is False
    assert "may have run" in value["error"]
    assert not machine.to("/output")


def test_after_a_lost_wait_the_output_is_read_once() -> None:
    machine = FakeMachine()
    machine.answer("/start", STARTED)
    machine.answer("/output", LOST, DONE)
    assert execute(machine, {"command": "make"}).value["output"] == "ok"


def test_an_attached_call_waits_only_for_the_rest_of_its_time() -> None:
    machine, clock = FakeMachine(), FakeClock()
    machine.answer("/start", STARTED | {"age_ms": 240_000})
    machine.answer("/output", DONE)
    execute(machine, {"command": "make", "timeout": "5m"}, clock)
    assert machine.to("/output")[0].params["timeout_ms"] == "60000"


def test_with_a_timeout_of_zero_the_output_is_read_once() -> None:
    machine = FakeMachine()
    machine.answer("/start", STARTED)
    machine.answer("/output", DONE)
    assert execute(machine, {"command": "make", "timeout": "0s"}).value["success"]
    assert "wait" not in machine.to("/output")[0].params


def test_a_trailing_ampersand_is_named_in_the_note() -> None:
    machine = FakeMachine()
    machine.answer("/start", STARTED)
    value = execute(machine, {"command": "server &"}).value
    assert value["backgrounded"] is True
    assert "&" in value["note"]
    assert "timeout_ms" not in machine.to("/start")[0].json


def test_a_background_command_keeps_its_ampersand() -> None:
    machine = FakeMachine()
    machine.answer("/start", STARTED)
    execute(machine, {"command": "a &", "run_in_background": True, "timeout": "30s"})
    assert machine.to("/start")[0].json["command"] == "a &"


def test_a_file_dump_that_times_out_has_both_notes() -> None:
    machine, clock = FakeMachine(), FakeClock()
    machine.answer("/start", STARTED)
    machine.answer("/output", BUSY)
    patient(machine, clock)
    note = execute(machine, {"command": "cat fifo"}, clock).value["note"]
    assert "Still running" in note
    assert "read_file" in note


def test_the_schema_names_what_is_required() -> None:
    spec = ExecuteTool().spec
    assert spec.name == "execute"
    assert spec.schema["required"] == ["command"]


def interrupted(machine: FakeMachine, arguments: Json, call_id: str = "c") -> ToolOutcome | None:
    tool = ExecuteTool(clock=FakeClock())
    return asyncio.run(tool.interrupted(arguments, machine.context(call_id)))


def test_an_interrupted_command_that_had_ended_gives_its_result() -> None:
    machine = FakeMachine()
    machine.answer("/cancel", {"received": True})
    machine.answer("/start", STARTED)
    machine.answer("/output", DONE)
    outcome = interrupted(machine, {"command": "make"})
    assert outcome == ToolOutcome({"success": True, "exit_code": 0, "output": "ok"})


@pytest.mark.parametrize(
    ("cancel", "start", "asked", "message"),
    [
        (LOST, STARTED, ["cancel"], "outcome unknown: connection lost"),
        (MachineRefused(409, "busy"), STARTED, ["cancel"], "outcome unknown: busy"),
        ({}, MachineRefused(409, "it may have run."), ["cancel", "start"], "may have run"),
        ({}, LOST, ["cancel", "start"], "outcome unknown: connection lost"),
        ({}, STARTED, ["cancel", "start", "output"], "outcome unknown: connection lost"),
    ],
)
def test_an_interrupted_call_starts_no_second_process_and_names_the_unknown_outcome(
    cancel: Any, start: Any, asked: list[str], message: str
) -> None:
    machine = FakeMachine()
    machine.answer("/cancel", cancel)
    machine.answer("/start", start)
    machine.answer("/output", LOST)
    outcome = interrupted(machine, {"command": "make"})
    assert outcome is not None
    assert outcome.value["success"] is False
    assert message in outcome.value["error"]
    assert ("background_process_id" in outcome.value) is ("output" in asked)
    assert [one.path.rpartition("/")[2] for one in machine.asked] == asked


@pytest.mark.parametrize("error", [MachineRefused(404, "Not Found"), NoMachine("no desktop")])
def test_a_machine_without_the_cancel_route_gets_no_further_request(error: Exception) -> None:
    machine = FakeMachine()
    machine.answer("/cancel", error)
    assert interrupted(machine, {"command": "make"}) is None


def test_an_interrupted_background_command_is_reported_as_canceled() -> None:
    machine = FakeMachine()
    machine.answer("/cancel", {"received": True})
    machine.answer("/start", STARTED)
    stopped = {"running": False, "canceled": True, "exit_code": 137, "duration_ms": 60_000}
    machine.answer("/output", stopped | {"output": "serving"})
    outcome = interrupted(machine, {"command": "make dev &"})
    assert outcome is not None
    assert outcome.value["output"] == "serving"
    assert outcome.value["error"] == "canceled by the user after 1m0s"
    assert "backgrounded" not in outcome.value
    assert "wait" not in machine.to("/output")[0].params


def test_an_interrupted_call_without_valid_arguments_or_id_sends_no_request() -> None:
    machine = FakeMachine()
    assert interrupted(machine, {"command": ""}) is None
    assert interrupted(machine, {"command": "make"}, call_id="") is None
    assert not machine.asked


@pytest.mark.parametrize("command", ["browser --kiosk http://x/", "cd /tmp && browser x &"])
def test_a_browser_that_exits_at_once_is_reported_with_its_last_output(command: str) -> None:
    machine = FakeMachine()
    machine.answer("/start", STARTED)
    output = "first\nNo usable sandbox!\nTrace/breakpoint trap\n"
    machine.answer("/output", {"running": False, "exit_code": 133, "output": output})
    value = execute(machine, {"command": command, "run_in_background": True}).value
    assert value["success"] is False
    assert value["exit_code"] == 133
    assert value["backgrounded"] is True
    assert value["output"] == output
    assert value["error"] == (
        "the browser exited at once with status 133: "
        "first; No usable sandbox!; Trace/breakpoint trap"
    )


def test_a_browser_without_output_is_reported_by_its_signal() -> None:
    machine = FakeMachine()
    machine.answer("/start", STARTED)
    machine.answer("/output", {"running": False, "exit_code": 139, "signal": "SIGSEGV"})
    value = execute(machine, {"command": "browser", "run_in_background": True}).value
    assert value["error"] == "the browser exited at once with SIGSEGV: no output"


def test_a_browser_that_stays_or_hands_its_page_on_is_no_failure() -> None:
    for answer in (BUSY, DONE, LOST):
        machine = FakeMachine()
        machine.answer("/start", STARTED)
        machine.answer("/output", answer)
        value = execute(machine, {"command": "browser x", "run_in_background": True}).value
        assert value["success"] is True
        assert value["background_process_id"] == "p"
        assert "error" not in value
    assert int(machine.to("/output")[0].params["timeout_ms"]) <= 2000


def test_other_background_commands_are_not_watched() -> None:
    for command in ("sleep 9", "browserify x", "./my-browser", "echo browser"):
        machine = FakeMachine()
        machine.answer("/start", STARTED)
        execute(machine, {"command": command, "run_in_background": True})
        assert not machine.to("/output")


PRIVATE = MachineRefused(409, "Ann is in control.", code="human_in_control")


def execute_after(machine: FakeMachine, *reports: str) -> tuple[ToolOutcome, list[str]]:
    """Run a command whose refusals are followed by waits with these reports."""
    left = list(reports)

    async def after_person() -> str:
        return left.pop(0)

    context = replace(machine.context(), after_person=after_person)
    return asyncio.run(ExecuteTool(clock=FakeClock()).call({"command": "make"}, context)), left


def test_a_command_that_a_private_session_keeps_from_starting_is_started_after_it() -> None:
    machine = FakeMachine()
    machine.answer("/start", PRIVATE, PRIVATE, STARTED)
    machine.answer("/output", DONE)
    outcome, left = execute_after(machine, "Ann was in control.", "Bob was in control.", "")
    assert (outcome.value["exit_code"], outcome.value["note"]) == (0, "Bob was in control.")
    assert left == [""]
    first, *others = (asked.json for asked in machine.to("/start"))
    assert others == [first, first]


@pytest.mark.parametrize("reports", [("",), ("Ann was in control.", "Ann was in control.")])
def test_a_refusal_without_a_further_session_is_reported(reports: tuple[str, ...]) -> None:
    machine = FakeMachine()
    machine.answer("/start", PRIVATE)
    outcome, left = execute_after(machine, *reports)
    assert outcome.value["error"] == "start process: Ann is in control."
    assert left == []


def test_callers_outside_of_a_conversation_do_not_wait_for_a_person() -> None:
    machine = FakeMachine()
    machine.answer("/start", PRIVATE)
    value = execute(machine, {"command": "make"}).value
    assert value["error"] == "start process: Ann is in control."


def test_other_conflicts_are_reported_at_once() -> None:
    machine = FakeMachine()
    machine.answer("/start", MachineRefused(409, "Repeated.", code="repeated"))
    outcome, left = execute_after(machine, "unread")
    assert (outcome.value["error"], left) == ("start process: Repeated.", ["unread"])
