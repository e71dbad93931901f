"""Results of the tools that run commands and work on files, and of those that control agents."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from deskhand.desktop.mcp.tool import Json, McpQuestion, McpResult

from .texts import bounded, clipped

_MORE_OUTPUT = "Run the command with head, tail or grep, or send its output to a file."
_MORE_FILE = "Read on with read_file and an offset."
_MORE_FINDS = "Narrow the search, or continue with offset."
_MORE = "Ask for less at once."

_REST = {
    "execute": _MORE_OUTPUT,
    "process_output": _MORE_OUTPUT,
    "read_file": _MORE_FILE,
    "search_files": _MORE_FINDS,
}


def result_of(name: str, value: Json, error: str | None = None) -> McpResult:
    """Return the result of a call from the value that the tool returned, or from its error."""
    rest = _REST.get(name, _MORE)
    if error is not None:
        return McpResult(clipped(error, rest), bounded(value, rest), is_error=True)
    text = _TEXTS.get(name, _fields)(value)
    failed = value.get("success") is False and not value.get("timed_out") and not _ran(value)
    return McpResult(
        clipped(text, rest), bounded(value, rest), is_error=failed, question=question_in(value)
    )


def _ran(value: Json) -> bool:
    """Return whether a command ended by itself: its exit code is a result, not a failed call."""
    return "exit_code" in value and "error" not in value


def _process(value: Json) -> str:
    process = value.get("background_process_id")
    if value.get("error"):
        head = str(value["error"])
    elif value.get("timed_out") or value.get("running"):
        named = f" as process {process}" if process else ""
        head = f"Still running{named}; wait for it with process_output."
    elif value.get("backgrounded"):
        head = f"Started in the background as process {process}."
    else:
        signal = f", ended by {value['signal']}" if value.get("signal") else ""
        head = f"Exit code {value.get('exit_code', 0)}{signal}."
    output = str(value.get("output") or "")
    left_out = " The middle of the output is left out." if value.get("truncated") else ""
    return f"{head}{left_out}\n{output}" if output else f"{head} No output."


def _processes(value: Json) -> str:
    listed = value.get("processes") or []
    if not listed:
        return "No process was started."
    return "\n".join(
        f"{one.get('id')} {_state(one)}: {str(one.get('command', ''))[:300]}" for one in listed
    )


def _state(process: Mapping[str, Any]) -> str:
    return "runs" if process.get("running") else f"ended with {process.get('exit_code')}"


def _file(value: Json) -> str:
    if value.get("is_directory"):
        return f"Directory of {value.get('total_entries', 0)} entries:\n{value.get('content', '')}"
    note = f"\n{value['note']}" if value.get("note") else ""
    return f"{value.get('content', '')}{note}" or "The file is empty."


def _finds(value: Json) -> str:
    note = f"\n{value['note']}" if value.get("note") else ""
    return f"{value.get('count', 0)} found.\n{value.get('content', '')}{note}".strip()


def _edited(value: Json) -> str:
    diffs = [str(one.get("diff") or one.get("path", "")) for one in value.get("files") or []]
    return "\n".join(["Edited.", *diffs])


def _fields(value: Json) -> str:
    lines = []
    for name, inner in value.items():
        shown = inner if isinstance(inner, str) else json.dumps(inner, ensure_ascii=False)
        lines.append(f"{name}: {shown}")
    return "\n".join(lines) or "Done."


def question_in(value: Json) -> McpQuestion | None:
    """Return the question of the first agent that waits for a person."""
    results = value.get("results")
    for one in results if isinstance(results, list) else [value]:
        asked = one.get("requires_action") if isinstance(one, Mapping) else None
        if isinstance(asked, Mapping) and one.get("chat_id"):
            text, name = str(asked.get("question") or ""), str(asked.get("id") or "")
            return McpQuestion(str(one["chat_id"]), text, name)
    return None


_TEXTS: dict[str, Callable[[Json], str]] = {
    "execute": _process,
    "process_output": _process,
    "process_list": _processes,
    "process_signal": lambda value: str(value.get("message") or "The signal was sent."),
    "read_file": _file,
    "write_file": lambda _: "The file was written.",
    "edit_files": _edited,
    "search_files": _finds,
}
