import subprocess
from typing import Any

import pytest

from deskhand.desktop.dialects.cua import shell_commands as shell
from deskhand.desktop.dialects.cua.route_call import RouteCall
from deskhand.desktop.errors import DesktopRefused
from tests.desktop.dialects.cua.scripted_replies import MISSING, REFUSED, driven, reply

START, OUTPUT = "/api/v0/processes/start", "/api/v0/processes/p/output"
STARTED = reply({"id": "p"})
RUNNING = reply({"running": True})
HOME = reply({"absolute_path_string": "/home/agent"})


def exited(code: int = 0) -> Any:
    return reply({"running": False, "exit_code": code})


def page(text: str, *, more: bool = False) -> Any:
    return reply({"output": text, "next_cursor": len(text), "has_more": more})


def wait(milliseconds: int) -> RouteCall:
    params = {"wait_for": "exit", "timeout_ms": str(milliseconds)}
    return RouteCall("GET", OUTPUT, params=params)


def test_a_command_that_fails_succeeds_with_its_exit_code() -> None:
    replies = [STARTED, exited(3), page("he", more=True), page(f"llo\n{shell.MARK}oops")]
    fields, calls = driven(shell.run_command({"command": "echo hello; exit 3"}), replies)
    assert fields == {"stdout": "hello\n", "stderr": "oops", "return_code": 3}
    assert calls == [
        RouteCall("POST", START, {"command": shell.with_errors_last("echo hello; exit 3")}),
        wait(240_001),
        RouteCall("GET", OUTPUT, params={"cursor": "0", "limit": "65536"}),
        RouteCall("GET", OUTPUT, params={"cursor": "2", "limit": "65536"}),
    ]


def test_standard_error_is_written_after_the_output() -> None:
    script = shell.with_errors_last("echo 'a b' >&2; echo c; exit 3")
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == (f"c\n{shell.MARK}a b\n", "")
    assert done.returncode == 3


def test_a_command_without_a_timeout_is_awaited_to_its_end() -> None:
    replies = [STARTED, RUNNING, RUNNING, exited(), page("")]
    fields, _ = driven(shell.run_command({"command": "sleep 999"}), replies)
    assert fields["return_code"] == 0


def test_a_command_that_takes_too_long_is_killed() -> None:
    params = {"command": "sleep 999", "timeout": 250}
    fields, calls = driven(shell.run_command(params), [STARTED, RUNNING, RUNNING])
    assert fields == {
        "success": False,
        "stdout": "",
        "stderr": "Command timed out after 250s",
        "return_code": -1,
    }
    killed = RouteCall("POST", "/api/v0/processes/p/signal", {"signal": "kill"})
    assert calls[1:] == [wait(240_001), wait(10_001), killed]


@pytest.mark.parametrize(
    ("target", "body"),
    [
        ("https://example.com", {"url": "https://example.com"}),
        ("/tmp/a.txt", {"path": "/tmp/a.txt"}),
        ("~/a.txt", {"path": "/home/agent/a.txt"}),
    ],
)
def test_files_and_addresses_are_opened(target: str, body: dict[str, str]) -> None:
    calls = driven(shell.open_target({"target": target}), [HOME])[1]
    assert calls[-1] == RouteCall("POST", "/api/v0/desktop/open", body)


def test_paths_below_the_home_become_absolute() -> None:
    for path, expected in [
        ("/x", "/x"),
        ("~", "/home/agent"),
        ("~/x/", "/home/agent/x"),
        ("x/y", "/home/agent/x/y"),
    ]:
        assert driven(shell.absolute(path), [HOME])[0] == expected


def test_a_wallpaper_is_shown() -> None:
    fields, calls = driven(shell.set_wallpaper({"path": "/a"}), [])
    assert fields == {}
    assert calls == [RouteCall("PUT", "/api/v0/desktop/wallpaper", params={"path": "/a"})]


def test_an_installed_application_is_launched() -> None:
    launched = reply({"process_id": "p", "pid": 123, "command": "terminal a"})
    fields, calls = driven(shell.launch({"app": "terminal", "args": ["a"]}), [launched])
    assert fields == {"pid": 123}
    body = {"name": "terminal", "args": ["a"]}
    assert calls == [RouteCall("POST", "/api/v0/desktop/launch", body)]
    with pytest.raises(DesktopRefused, match="never"):
        driven(shell.launch({"app": "terminal"}), [REFUSED])


def test_a_program_that_is_no_application_is_launched_as_a_command() -> None:
    replies = [MISSING, reply({"process_id": "p", "pid": 123, "command": "xterm"})]
    fields, calls = driven(shell.launch({"app": "x term", "args": ["-e", "a b"]}), replies)
    assert fields == {"pid": 123}
    assert calls[1].json == {"command": "'x term'", "args": ["-e", "a b"]}
