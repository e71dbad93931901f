from typing import Any

import pytest

from deskhand.desktop.mcp.calls.texts import LONGEST
from deskhand.desktop.mcp.calls.tool_results import result_of
from deskhand.desktop.mcp.tool import McpQuestion

CASES: list[tuple[str, dict[str, Any], str]] = [
    ("execute", {"success": True, "exit_code": 0, "output": "hi"}, "Exit code 0.\nhi"),
    ("execute", {"success": False, "exit_code": 2}, "Exit code 2. No output."),
    (
        "execute",
        {"success": False, "exit_code": -1, "signal": "SIGKILL", "output": "x", "truncated": {}},
        "Exit code -1, ended by SIGKILL.\nx",
    ),
    (
        "execute",
        {"timed_out": True, "background_process_id": "p1", "exit_code": -1, "success": False},
        "Still running as process p1; wait for it with process_output. No output.",
    ),
    (
        "execute",
        {"success": True, "backgrounded": True, "background_process_id": "p1"},
        "Started in the background as process p1. No output.",
    ),
    (
        "process_output",
        {"success": True, "running": True, "output": "a", "truncated": {"bytes": 1}},
        "Still running; wait for it with process_output. The middle of the output is left out.\na",
    ),
    ("process_list", {"processes": []}, "No process was started."),
    (
        "process_list",
        {
            "processes": [
                {"id": "a", "running": True, "command": "x"},
                {"id": "b", "exit_code": 1},
            ]
        },
        "a runs: x\nb ended with 1: ",
    ),
    ("process_signal", {"success": True, "message": "Sent."}, "Sent."),
    ("process_signal", {"success": True}, "The signal was sent."),
    ("read_file", {"content": "1\ta", "note": "More."}, "1\ta\nMore."),
    ("read_file", {"content": ""}, "The file is empty."),
    (
        "read_file",
        {"is_directory": True, "content": "1\ta/", "total_entries": 1},
        "Directory of 1 entries:\n1\ta/",
    ),
    ("write_file", {"ok": True}, "The file was written."),
    ("edit_files", {"ok": True, "files": [{"path": "/a", "diff": "-a"}]}, "Edited.\n-a"),
    ("edit_files", {"ok": True, "files": [{"path": "/a"}]}, "Edited.\n/a"),
    ("search_files", {"count": 1, "content": "/a:1: b"}, "1 found.\n/a:1: b"),
    ("search_files", {"count": 0, "content": "", "note": "N."}, "0 found.\n\nN."),
    ("wait_agent", {"status": "done", "steps": 3}, "status: done\nsteps: 3"),
    ("close_agent", {}, "Done."),
]


@pytest.mark.parametrize(("name", "value", "text"), CASES)
def test_the_text_says_what_happened(name: str, value: dict[str, Any], text: str) -> None:
    found = result_of(name, value)
    assert found.text == text
    assert found.content == value
    assert not found.is_error


def test_a_command_that_could_not_start_is_an_error() -> None:
    value = {"success": False, "exit_code": -1, "error": "no such directory"}
    found = result_of("execute", value)
    assert found.is_error
    assert found.text.startswith("no such directory")


def test_an_error_of_the_tool_is_an_error() -> None:
    found = result_of("read_file", {}, "not found")
    assert (found.text, found.is_error) == ("not found", True)


def test_a_long_output_is_cut_in_text_and_content() -> None:
    found = result_of("execute", {"success": True, "exit_code": 0, "output": "x" * 32_768})
    assert len(found.text) <= LONGEST
    assert "head, tail or grep" in found.text
    assert len(found.content["output"]) <= LONGEST


def test_the_question_of_a_waiting_agent_is_found() -> None:
    asks = {"chat_id": "c1", "requires_action": {"kind": "human", "question": "Who?"}}
    assert result_of("wait_agent", asks).question == McpQuestion("c1", "Who?")
    several = {"results": [{"chat_id": "c0"}, "odd", asks]}
    assert result_of("wait_agent", several).question == McpQuestion("c1", "Who?")
    assert result_of("wait_agent", {"results": [{"chat_id": "c0"}]}).question is None
    assert result_of("wait_agent", {"requires_action": {"question": "?"}}).question is None
