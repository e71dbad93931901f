"""The given cases of the machine tools, over a fake machine."""

import asyncio
import json
from typing import Any

import pytest

from deskhand.desktop.durations import parse_duration
from deskhand.tools.kit.edit_files import EditFilesTool
from deskhand.tools.kit.execute import ExecuteTool
from deskhand.tools.kit.process_list import ProcessListTool
from deskhand.tools.kit.process_output import ProcessOutputTool
from deskhand.tools.kit.process_signal import ProcessSignalTool
from deskhand.tools.kit.read_file import ReadFileTool
from deskhand.tools.kit.support.spec import (
    MachineRefused,
    MachineUnavailable,
    NoMachine,
    Tool,
    ToolOutcome,
)
from deskhand.tools.kit.write_file import WriteFileTool
from tests.given import CASES, assert_contains, assert_subset, expected, filled, named
from tests.tools.kit.machine import Asked, FakeMachine

Json = dict[str, Any]


class FakeClock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def call(tool: Tool, arguments: Any, machine: FakeMachine) -> ToolOutcome:
    return asyncio.run(tool.call(arguments, machine.context()))


def check(outcome: ToolOutcome, expect: Json) -> None:
    if "is_error" in expect:
        assert outcome.is_error is expect["is_error"], outcome
    content = outcome.error if outcome.error is not None else json.dumps(outcome.value)
    assert_contains(content, expect.get("content_contains", []))
    if "content" in expect:
        given = outcome.error or json.dumps(outcome.value, separators=(",", ":"))
        assert given == expect["content"]
    assert_subset(outcome.value, expect.get("result", {}))
    for name in expect.get("absent", []):
        assert name not in outcome.value
    message = outcome.error or outcome.value.get("error", "")
    assert_contains(message, expect.get("error_contains", []))


def machine_for(setup: Json, clock: FakeClock) -> FakeMachine:
    machine = FakeMachine()
    machine.answer("/start", _start_answer(setup))
    outputs = _outputs(setup)

    def wait_out(asked: Asked) -> None:
        # A wait that fails or ends while the process runs has taken all its time.
        last = "wait_error" not in setup and len(outputs) == 1
        if last and isinstance(outputs[0], dict) and outputs[0].get("running"):
            clock.now += int(asked.params.get("timeout_ms", 0)) / 1000

    machine.on_request = wait_out
    machine.answer("/output", *outputs)
    return machine


def _start_answer(setup: Json) -> Any:
    if "start_error" in setup:
        message = setup["start_error"]
        if message.startswith("409 "):
            return _refused(message.removeprefix("409 "))
        return MachineRefused(500, "Failed to start process.", message.removeprefix("exec: "))
    if "resolver_error" in setup:
        return NoMachine(setup["resolver_error"])
    answer = setup.get("start_response") or setup.get("agent_start") or {"id": "proc-1"}
    return {"started": True} | answer


def _refused(code: str) -> MachineRefused:
    message = {
        "agent_started_after_tool_call": "The machine was restarted; the call may have run.",
        "input_mismatch": "The tool call's id was used before with different input.",
    }
    return MachineRefused(409, message.get(code, code))


def _outputs(setup: Json) -> list[Any]:
    if "wait_error" in setup:
        first: Any = MachineUnavailable(setup["wait_error"])
        second = setup.get("snapshot") or MachineUnavailable(setup["snapshot_error"])
        return [first, second]
    if "wait_calls" in setup:
        return list(setup["wait_calls"])
    if "outputs" in setup:
        return list(setup["outputs"])
    return [filled(setup.get("agent_output", {"running": False, "exit_code": 0}), {})]


EXECUTE = named(
    *("tool.execute", "tool.execute.ampersand", "tool.execute.file_dump"),
    *("tool.execute.output_cap", "tool.execute.toolcall"),
)


@pytest.mark.parametrize("name", EXECUTE)
def test_a_given_case_of_execute(name: str) -> None:
    setup, expect = CASES[name]["setup"], expected(name)
    clock = FakeClock()
    machine = machine_for(setup, clock)
    longest = parse_duration(setup.get("max_timeout", "4h"))
    label = setup.get("names", {}).get("process_output", "process_output")
    outcome = call(ExecuteTool(longest, clock, label), CASES[name]["request"], machine)
    check(outcome, expect)
    if expect.get("agent_called") is False:
        assert not machine.asked
        return
    started = machine.to("/start")[0].json
    assert_subset(started, expect.get("start_request", {}))
    assert_subset(started["env"], expect.get("start_env_contains", {}))
    if "start_env_equals" in expect:
        assert started["env"] == expect["start_env_equals"]
    assert "model_intent" not in started
    if "result_has_background_id" in expect:
        has_id = "background_process_id" in outcome.value
        assert has_id is expect["result_has_background_id"]
    if "wait_call_count" in expect:
        assert len(machine.to("/output")) == expect["wait_call_count"]
    _check_words(outcome.value, expect)
    if "outputs" in setup:
        _check_waits(machine, setup["outputs"])


def _check_words(value: Json, expect: Json) -> None:
    note = value.get("note", "")
    assert_contains(note, expect.get("note_contains", []))
    if "note_present" in expect:
        assert ("read_file" in note) is expect["note_present"]
    if "output" in expect:
        assert value.get("output", "") == expect["output"]
    if "output_bytes" in expect:
        assert len(value["output"].encode()) == expect["output_bytes"]


def _check_waits(machine: FakeMachine, outputs: list[Json]) -> None:
    for asked, wanted in zip(machine.to("/output"), outputs, strict=True):
        assert ("wait" in asked.params) is wanted["wait"]


@pytest.mark.parametrize("name", named("tool.execute.interrupt"))
def test_a_given_case_of_an_interrupted_call(name: str) -> None:
    setup, expect = CASES[name]["setup"], expected(name)
    machine = FakeMachine()
    gone = MachineRefused(404, "Not Found")
    machine.answer("/cancel", gone if setup["cancel"] == "404" else {"received": True})
    late = MachineRefused(409, "The call was canceled before.", code="tool_call_canceled")
    machine.answer("/start", late if "409" in setup.get("start", "") else {"id": "proc-1"})
    machine.answer("/output", setup.get("output", {}))
    tool = ExecuteTool(clock=FakeClock())
    outcome = asyncio.run(tool.interrupted(CASES[name]["request"], machine.context()))
    if outcome is None:
        # For a call of which nothing is known, the chat has an error message of its own.
        assert expect["is_error"] is True
    else:
        wanted = expect.get("result", {})
        result = {key: "proc-1" if value == "<id>" else value for key, value in wanted.items()}
        check(outcome, expect | {"result": result})
    asked = [asked.path.rpartition("/")[2] for asked in machine.asked]
    assert asked == [word.partition("(")[0] for word in expect.get("calls", asked)]


@pytest.mark.parametrize("name", named("tool.process_output"))
def test_a_given_case_of_process_output(name: str) -> None:
    setup, expect = CASES[name]["setup"], expected(name)
    machine = FakeMachine()
    machine.answer("/output", *_outputs(setup))
    outcome = call(ProcessOutputTool(), CASES[name]["request"], machine)
    check(outcome, expect)
    if "agent_call" in expect:
        (asked,) = machine.asked
        assert asked.params["wait"] == "true"
        assert int(asked.params["timeout_ms"]) == expect["agent_call"]["deadline_s"] * 1000


@pytest.mark.parametrize("name", named("tool.process_list"))
def test_a_given_case_of_process_list(name: str) -> None:
    machine = FakeMachine()
    machine.answer("/list", CASES[name]["setup"]["agent_list"])
    check(call(ProcessListTool(), CASES[name]["request"], machine), expected(name))


@pytest.mark.parametrize("name", named("tool.process_signal"))
def test_a_given_case_of_process_signal(name: str) -> None:
    machine = FakeMachine()
    machine.answer("/signal", MachineRefused(409, "Process is not running."))
    check(call(ProcessSignalTool(), CASES[name]["request"], machine), expected(name))


@pytest.mark.parametrize("name", named("tool.read_file"))
def test_a_given_case_of_read_file(name: str) -> None:
    case = CASES[name]
    machine = FakeMachine()
    path = case["request"].get("path", "")
    machine.answer("/read-file-lines", {"success": False, "error": f"{path!r} is not a file"})
    entries = [
        {"name": entry, "absolute_path_string": f"{path}/{entry}", "is_dir": is_dir}
        for entry, is_dir in case["setup"].get("ls", [])
    ]
    parts = path.split("/")[1:]
    machine.answer(
        "/list-directory",
        {"absolute_path": parts, "absolute_path_string": path, "contents": entries},
    )
    check(call(ReadFileTool(), case["request"], machine), expected(name))


@pytest.mark.parametrize("name", named("tool.write_file"))
def test_a_given_case_of_write_file(name: str) -> None:
    machine = FakeMachine()
    machine.answer("/write-file", {"message": "written"})
    check(call(WriteFileTool(), CASES[name]["request"], machine), expected(name))
    wanted = expected(name)["agent_write"]
    (asked,) = machine.asked
    assert asked.params["path"] == wanted["path"]
    assert asked.content == wanted["body"].encode()


@pytest.mark.parametrize("name", named("tool.edit_files", "tool.edit_files.flat"))
def test_a_given_case_of_edit_files(name: str) -> None:
    case, expect = CASES[name], expected(name)
    machine = FakeMachine()
    files = case["setup"].get("agent_files", [])
    machine.answer("/edit-files", {"message": "edited", "files": files})
    outcome = call(EditFilesTool(), _edit_arguments(case), machine)
    if expect.get("result", {}).get("files") == "as returned":
        expect = expect | {"result": {"ok": True, "files": files}}
    check(outcome, expect)
    wanted = expect.get("agent_request", {})
    if "path" in wanted:
        assert machine.asked[0].json["files"][0]["path"] == wanted["path"]
    else:
        assert_subset(machine.asked[0].json if machine.asked else {}, _wire(wanted))


def _edit_arguments(case: Json) -> Any:
    request = case["request"]
    if "raw_input" in request:
        return json.loads(request["raw_input"])
    edits = request.get("edits")
    if case["area"] == "tool.edit_files":
        # The latest cases refuse the nested form; their expectations hold for the flat one.
        edits = [
            {"path": file["path"]} | edit
            for file in request["files"]
            for edit in file.get("edits", [{"old": "a", "new": "b"}])
        ]
    return {"edits": list(map(_named_edit, edits))} if edits else request


def _named_edit(edit: Json) -> Json:
    return {
        {"old": "old_text", "new": "new_text", "all": "replace_all"}.get(key, key): value
        for key, value in edit.items()
    }


def _wire(request: Json) -> Json:
    if "files" not in request:
        return request
    files = [
        {"path": file["path"], "edits": [_named_edit(e) for e in file["edits"]]}
        for file in request["files"]
    ]
    return request | {"files": [_with_defaults(file) for file in files]}


def _with_defaults(file: Json) -> Json:
    return file | {"edits": [edit | {"replace_all": False} for edit in file["edits"]]}
