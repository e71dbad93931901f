import asyncio
from typing import Any

import pytest

from deskhand.desktop.errors import BadField
from deskhand.desktop.mcp.calls.shell import ShellCalls
from tests.desktop.mcp.fakes import FakeDesktop, given

START, OUTPUT = "POST /api/v0/processes/start", "GET /api/v0/processes/p1/output"


def desktop(**output: Any) -> FakeDesktop:
    return FakeDesktop({START: {"id": "p1"}, OUTPUT: output})


def test_a_command_is_started_and_waited_for() -> None:
    fake = desktop(running=False, exit_code=0, output="hi\n")
    found = asyncio.run(
        ShellCalls(fake).execute(given("execute", {"command": "echo hi", "timeout": "20s"}))
    )
    assert found.text == "Exit code 0.\nhi\n"
    assert found.content == {"success": True, "exit_code": 0, "output": "hi\n"}
    (body,) = fake.sent(START)
    assert (body["command"], body["timeout_ms"]) == ("echo hi", 20_000)
    assert body["env"]["GIT_TERMINAL_PROMPT"] == "0"
    assert fake.sent(OUTPUT) == [{"newest": "true", "wait": "true", "timeout_ms": "20000"}]


def test_no_wait_is_longer_than_hosts_wait() -> None:
    fake = desktop(running=True, output="so far")
    found = asyncio.run(
        ShellCalls(fake).execute(given("execute", {"command": "make", "timeout": "1h"}))
    )
    assert fake.sent(OUTPUT) == [{"newest": "true", "wait": "true", "timeout_ms": "44000"}]
    assert found.text.startswith("Still running as process p1")
    assert found.content["timed_out"] is True
    assert not found.is_error


def test_a_background_command_is_not_waited_for() -> None:
    fake = desktop()
    found = asyncio.run(
        ShellCalls(fake).execute(given("execute", {"command": "x", "run_in_background": True}))
    )
    assert found.content["background_process_id"] == "p1"
    assert "timeout_ms" not in fake.sent(START)[0]
    assert not fake.sent(OUTPUT)


def test_output_is_read_at_once_with_no_wait() -> None:
    fake = desktop(
        running=False, exit_code=-1, signal="SIGKILL", output="x", truncated={"bytes": 1}
    )
    shell = ShellCalls(fake)
    found = asyncio.run(
        shell.process_output(given("process_output", {"process_id": " p1 ", "wait_timeout": "0s"}))
    )
    assert found.content["signal"] == "SIGKILL"
    assert "left out" in found.text
    assert fake.sent(OUTPUT) == [{"newest": "true"}]


def test_processes_are_listed() -> None:
    fake = FakeDesktop({"GET /api/v0/processes/list": {"processes": [{"id": "a"}]}})
    found = asyncio.run(ShellCalls(fake).process_list(given("process_list", {})))
    assert found.content == {"processes": [{"id": "a"}]}


def test_a_signal_is_sent_to_a_process_and_nowhere_else() -> None:
    route = "POST /api/v0/processes/..%2Fx/signal"
    fake = FakeDesktop({route: {"message": "Signal sent."}})
    shell = ShellCalls(fake)
    arguments = {"process_id": "../x", "signal": "kill"}
    assert (
        asyncio.run(shell.process_signal(given("process_signal", arguments))).text == "Signal sent."
    )
    assert fake.sent(route) == [{"signal": "kill"}]
    with pytest.raises(BadField, match="one of terminate, kill, interrupt"):
        asyncio.run(shell.process_signal(given("process_signal", {**arguments, "signal": "stop"})))
