"""The given cases of the process and file core: which run, which do not yet, where we differ."""

import json
from pathlib import Path
from typing import Any

Json = dict[str, Any]

_FILE = Path(__file__).parent / "data" / "processes-and-files.json"
CASES: dict[str, Json] = {case["id"]: case for case in json.loads(_FILE.read_text())}

_ALTERNATIVE = "an alternative branch; run-once goes by tool-call id instead"

NOT_YET: dict[str, str] = {
    "process.output/wait_longer_than_http_write_timeout": (
        "the server has no write timeout; bench/soak_waits.py plays it, 25 s are too long here"
    ),
    "process.client_token/same_token_attaches": _ALTERNATIVE,
    "process.client_token/same_token_other_background": _ALTERNATIVE,
    "process.client_token/probe_found": _ALTERNATIVE,
    "process.client_token/probe_missing": _ALTERNATIVE,
    "process.client_token/probe_escaped_token": _ALTERNATIVE,
    "process.tracked/reaped_terminal_state": _ALTERNATIVE,
    "process.tracked/fence_beats_delayed_start": _ALTERNATIVE,
}
"""Cases that are not run, each with the reason."""

_MORE_RIGHT = "the file's indentation is kept in replaced middles too"

OURS: dict[str, tuple[str, Json]] = {
    "process.list/exited_over_5_minutes_reaped": (
        "exited processes are kept for an hour, 200 of them",
        {"steps": [{"ids_set": ["p"]}, {"status": 200}]},
    ),
    "chat.headers/malformed_chat": ("fail closed", {"status": 400}),
    "chat.headers/malformed_ancestors": ("fail closed", {"status": 400}),
    "chat.headers/malformed_chat_header_acts_as_no_chat": ("fail closed", {"status": 400}),
    "process.lifecycle/background_child_holds_pipe_zero_exit": (
        "a process has exited when its shell has",
        {"after_exit": {"output_equals": "hi\n", "exit_code": 0}},
    ),
    "headtail/long_line_in_tail": (
        "head and tail are joined without a newline of ours",
        {"output": "head data goes here\n" + "T" * 2032 + " ... [truncated]\n"},
    ),
    "headtail/result_can_exceed_32k": (
        "the mark about the middle is within the budget, the newest bytes are kept",
        {"output_bytes": 32768, "truncated": {"original_bytes": 80000, "omitted_bytes": 47265}},
    ),
    "file.list/not_a_directory": ("the caller's fault", {"status": 400}),
    "file.read_lines/trailing_newline_counts_extra_line": (
        "a final newline ends the last line",
        {"body": {"content": "1\ta\n2\tb", "total_lines": 2, "lines_read": 2}},
    ),
    "file.read_lines/default_limit_2000_lines": (
        "no phantom last line, and the answer says where to go on",
        {"body": {"success": True, "lines_read": 2000, "total_lines": 2500, "next_line": 2001}},
    ),
    "file.edit.indent_translation/lock_unwrap": (
        _MORE_RIGHT,
        {"files": {"{tmp}/f": "func main() {\n\tdoSomething()\n\tdoMore()\n}\n"}},
    ),
    "file.edit.indent_translation/lock_middle_rewrite_tab": (
        _MORE_RIGHT,
        {
            "files": {
                "{tmp}/f": "func transform(items []Item) []Result {\n\tvar results []Result\n"
                "\tfor _, item := range items {\n\t\tresult, err := convert(item)\n"
                "\t\tif err != nil {\n\t\t\tcontinue\n\t\t}\n"
                "\t\tresults = append(results, result)\n\t}\n\treturn results\n}\n"
            }
        },
    ),
    "file.edit.indent_translation/lock_middle_rewrite_2sp": (
        _MORE_RIGHT,
        CASES["file.edit.better/middle_rewrite_2sp_right"]["expect"],
    ),
    "tool.execute.ampersand/escaped": (
        "an escaped ampersand is an argument",
        {
            "start_request": {"command": "echo \\&", "background": False},
            "result_has_background_id": False,
        },
    ),
    "tool.execute.ampersand/in_trailing_comment": (
        "a comment is not run",
        {
            "start_request": {"command": "echo x # a &", "background": False},
            "result_has_background_id": False,
        },
    ),
    "tool.execute.ampersand/redirect": (
        "a redirection is left to the shell",
        {
            "start_request": {"command": "cmd 2>&", "background": False},
            "result_has_background_id": False,
        },
    ),
    "tool.edit_files/path_required": (
        "only the flat form is left",
        {"content_contains": ["edits[0]", "path is required"]},
    ),
}
"""Cases in which we differ, each with the reason and with what we expect instead."""


AREAS: dict[str, tuple[str, ...]] = {
    "tests/desktop/processes/test_given_processes.py": (
        *("process.start", "process.list", "process.output", "process.signal"),
        *("process.lifecycle", "process.toolcall.v1", "chat.headers"),
    ),
    "tests/desktop/processes/test_head_tail.py": ("headtail",),
    "tests/desktop/tool_calls/test_once.py": ("toolcall.table",),
    "tests/desktop/files/test_given_files.py": (
        *("file.read", "file.read_lines", "file.write", "file.list", "file.resolve_path"),
        *("file.edit", "file.edit.better", "file.edit.collapse_keeps_next_line"),
        *("file.edit.diff", "file.edit.duplicates", "file.edit.end_to_end_whitespace"),
        *("file.edit.ending_normalization", "file.edit.hints", "file.edit.indent_translation"),
        *("file.edit.rejects", "file.edit.whitespace_endings", "file.edit.wire"),
        *("file.edit.indent_unit", "file.edit.indent_level", "file.edit.indent_translate"),
        "idea.seek_sequence",
    ),
    "tests/desktop/files/test_given_calls.py": ("file.edit.toolcall", "file.write.toolcall"),
    "tests/tools/kit/test_given_tools.py": (
        *("tool.execute", "tool.execute.ampersand", "tool.execute.file_dump"),
        *("tool.execute.output_cap", "tool.execute.toolcall", "tool.execute.interrupt"),
        *("tool.process_output", "tool.process_list", "tool.process_signal"),
        *("tool.read_file", "tool.write_file", "tool.edit_files", "tool.edit_files.flat"),
    ),
    "": ("process.client_token", "process.tracked"),
}
"""Which file plays the cases of which areas; none plays those of the last line."""


def named(*areas: str) -> list[str]:
    """Return the ids of the cases of these areas that are run."""
    return [name for name, case in CASES.items() if case["area"] in areas and name not in NOT_YET]


def expected(name: str) -> Any:
    """Return what a case expects, or what we expect instead."""
    expect = CASES[name]["expect"]
    if name not in OURS:
        return expect
    ours = OURS[name][1]
    return ours["steps"] if "steps" in ours else expect | ours


def filled(value: Any, places: dict[str, str]) -> Any:
    """Put the real paths and ids in the place of the placeholders, repetitions written out."""
    if isinstance(value, str):
        for place, real in places.items():
            value = value.replace("{" + place + "}", real)
        return value
    if isinstance(value, list):
        return [filled(item, places) for item in value]
    if isinstance(value, dict):
        if value.keys() == {"repeat", "times"}:
            return value["repeat"] * value["times"]
        return {filled(key, places): filled(item, places) for key, item in value.items()}
    return value


def assert_contains(text: str, words: list[str]) -> None:
    for word in words:
        assert word in text, f"{word!r} is not in {text!r}"


def assert_subset(actual: Any, wanted: Any) -> None:
    """Check that all wanted fields are there, predicates like ">0" included."""
    if isinstance(wanted, dict):
        for key, value in wanted.items():
            if value == "absent":
                assert key not in actual
            elif value == ">retained_bytes":
                assert actual[key] > actual["retained_bytes"]
            else:
                assert_subset(actual.get(key), value)
    elif wanted == "not_null":
        assert actual is not None
    elif wanted == "nonzero":
        assert actual != 0
    elif isinstance(wanted, str) and wanted.startswith(">") and wanted[1:].isdigit():
        assert actual > int(wanted[1:])
    else:
        assert actual == wanted
