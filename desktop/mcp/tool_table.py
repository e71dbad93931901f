"""The tools of the MCP server that work on a desktop.

Hosts send all schemas with every conversation and cut or refuse long ones, so the table is short:
flat schemas, no field that a caller does without. The actions are those of `desktop.actions`; the
tools of the groups shell and files have the names and arguments of the tools of chats, which a test
compares.
"""

from typing import Any

from deskhand.desktop.actions.catalog import ACTIONS
from deskhand.desktop.actions.fields import DIRECTIONS, FIELDS, region
from deskhand.desktop.fields import (
    Field,
    Fields,
    any_text,
    count,
    duration,
    each,
    filled_text,
    items,
    nested,
    one_of,
    outside,
    spoken_flag,
    word,
    written,
)

from .tool import Json, McpTool

MOST_ACTIONS = 20
"""Actions of one call."""

MOST_WIDGETS = 50
"""Widgets in one answer of ``computer_find``."""

_PICTURES = ("screenshot", "zoom")
# ``computer_act`` shows the screen once, at its end.
ACTION_NAMES = tuple(name for name in ACTIONS if name not in _PICTURES)
ACTION_FIELDS = (
    *("coordinate", "text", "modifiers", "start_coordinate", "path", "button", "duration"),
    *("scroll_direction", "scroll_amount", "scroll_x", "scroll_y"),
)
"""Fields of actions that are offered; the service also accepts the others of the table."""

_TEXT: Json = {"type": "string"}
_NUMBER: Json = {"type": "number"}
_WHOLE: Json = {"type": "integer"}
_FLAG: Json = {"type": "boolean"}
_LIST: Json = {"type": "array"}
USUAL_WAIT = 10.0
"""Seconds for which a call waits for a process."""

_WAIT = Field(
    {"type": "string", "description": "As 30s; most 45s, default 10s."}, duration, USUAL_WAIT
)
_PATH = Field({"type": "string", "description": "Absolute."}, word)
_WORD = Field(_TEXT, word)
_WORDS = Field(_TEXT, any_text, "")
_SWITCH = Field(_FLAG, spoken_flag, False)
_COUNT = Field(_WHOLE, count, 0)
_FORMATS = ("png", "jpeg")
_SIGNALS = ("terminate", "kill", "interrupt")
_RECORDING = ("start", "stop", "list")
_NOTHING = Fields({})


def _field(name: str) -> Json:
    """Return the schema of a field of an action without its bounds, which the service checks."""
    schema = FIELDS[name].schema
    short: Json = {"type": schema["type"]}
    if "items" in schema:
        inner = schema["items"]
        short["items"] = {key: inner[key] for key in ("type", "items") if key in inner}
    if name == "scroll_direction":
        short["enum"] = list(DIRECTIONS)
    return short


def _action() -> Json:
    fields = {name: _field(name) for name in ACTION_FIELDS}
    return {
        "type": "object",
        "properties": {"action": {"enum": list(ACTION_NAMES)}, "ref": _TEXT, **fields},
        "required": ["action"],
    }


def _actions(name: str, value: Any) -> list[Any]:
    # The service checks the fields of each, all before it performs the first.
    actions = items(name, value, 1, MOST_ACTIONS)
    if any(isinstance(one, dict) and one.get("action") in _PICTURES for one in actions):
        why = "computer_look takes them, and the call shows the screen at its end"
        raise outside(name, f"must have no pictures: {why}")
    return actions


def _edits(name: str, value: Any) -> tuple[Any, ...]:
    edits = each(nested(_EDIT))(name, value)
    if not edits:
        raise outside(name, "must have at least one edit")
    return edits


_EDIT = Fields(
    {
        "path": _WORD,
        "old_text": Field(_TEXT, any_text),
        "new_text": Field(_TEXT, any_text),
        "replace_all": _SWITCH,
    },
    ("path", "old_text", "new_text"),
)
_SCREEN: Json = {"frame_id": _TEXT, "width": _WHOLE, "height": _WHOLE}
_PROCESS: Json = {
    "success": _FLAG,
    "exit_code": _WHOLE,
    "output": _TEXT,
    "background_process_id": _TEXT,
    "timed_out": _FLAG,
}

COMPUTER: tuple[McpTool, ...] = (
    McpTool(
        "computer",
        "computer_look",
        "Look at the screen",
        "Take a picture of the screen, or of a region [x1,y1,x2,y2] in more detail. Points are "
        "pixels of the picture of the whole screen.",
        Fields(
            {
                "region": Field({"type": "array", "items": _WHOLE}, region),
                "format": Field({"enum": list(_FORMATS)}, one_of(*_FORMATS), "png"),
            }
        ),
        _SCREEN,
        read_only=True,
        idempotent=True,
    ),
    McpTool(
        "computer",
        "computer_act",
        "Use mouse and keyboard",
        f"Perform 1 to {MOST_ACTIONS} actions in order, up to the first that fails; then wait "
        "until the screen rests, and show it if it changed. coordinate is [x,y]; a ref of "
        "computer_find may replace it. text: what to type, or keys as ctrl+s; for clicks the keys "
        "held. duration: seconds. Put actions that need no look in between into one call.",
        Fields(
            {
                "actions": Field(
                    {"type": "array", "items": _action(), "maxItems": MOST_ACTIONS}, _actions
                ),
                "look": Field(
                    {"type": "boolean", "description": "false: no picture."}, spoken_flag, True
                ),
            },
            ("actions",),
        ),
        {
            **_SCREEN,
            "results": _LIST,
            "changed_fraction": _NUMBER,
            "settled": _TEXT,
            "focused_window": _TEXT,
        },
        destructive=True,
        open_world=True,
    ),
    McpTool(
        "computer",
        "computer_find",
        "Find widgets",
        f"Find widgets by a part of their text, by role (button, link, entry) or both: at most "
        f"{MOST_WIDGETS}, each with a ref and the point of its middle. Better than guessing a "
        "point.",
        Fields({"text": _WORDS, "role": _WORDS}),
        {"widgets": _LIST, "more": _WHOLE},
        read_only=True,
        idempotent=True,
    ),
    McpTool(
        "computer",
        "computer_open",
        "Open a page, file or application",
        "Open a URL, an absolute path, or an application by name (browser, terminal, files), and "
        "show the screen.",
        Fields({"target": _WORD}, ("target",)),
        {**_SCREEN, "process_id": _TEXT},
        open_world=True,
    ),
)
SHELL: tuple[McpTool, ...] = (
    McpTool(
        "shell",
        "execute",
        "Run a command",
        "Run a command with sh -c on the desktop's machine; return output and exit code. After "
        "timeout it goes on, and the result has its id for process_output. Prompts get no "
        "answer: pass flags such as -y.",
        Fields(
            {
                "command": Field(_TEXT, filled_text),
                "timeout": _WAIT,
                "workdir": _WORDS,
                "run_in_background": _SWITCH,
            },
            ("command",),
        ),
        _PROCESS,
        destructive=True,
        open_world=True,
    ),
    McpTool(
        "shell",
        "process_output",
        "Read a process's output",
        "Wait for a process that execute left running, and return its output and state.",
        Fields({"process_id": _WORD, "wait_timeout": _WAIT}, ("process_id",)),
        {**_PROCESS, "running": _FLAG},
        read_only=True,
        idempotent=True,
    ),
    McpTool(
        "shell",
        "process_list",
        "List processes",
        "List the processes that execute started, with ids, commands and exit codes.",
        _NOTHING,
        {"processes": _LIST},
        read_only=True,
        idempotent=True,
    ),
    McpTool(
        "shell",
        "process_signal",
        "End a process",
        "End a process with everything that it started; interrupt is Ctrl+C.",
        Fields(
            {
                "process_id": _WORD,
                "signal": Field({"enum": list(_SIGNALS)}, one_of(*_SIGNALS)),
            },
            ("process_id", "signal"),
        ),
        {"success": _FLAG, "message": _TEXT},
        destructive=True,
    ),
)
FILES: tuple[McpTool, ...] = (
    McpTool(
        "files",
        "read_file",
        "Read a file",
        "Read a text file with numbered lines, or list a directory. Continue with offset.",
        Fields(
            {
                "path": _PATH,
                "offset": Field(
                    {"type": "integer", "description": "First line, from 1."}, count, 0
                ),
                "limit": _COUNT,
            },
            ("path",),
        ),
        {"content": _TEXT, "total_lines": _WHOLE, "truncated": _FLAG},
        read_only=True,
        idempotent=True,
    ),
    McpTool(
        "files",
        "write_file",
        "Write a file",
        "Write a whole file; missing directories are made.",
        Fields({"path": _PATH, "content": Field(_TEXT, any_text)}, ("path", "content")),
        {"ok": _FLAG},
        destructive=True,
        idempotent=True,
    ),
    McpTool(
        "files",
        "edit_files",
        "Edit files",
        "Replace texts in files, all edits or none. old_text must stand in the file exactly once, "
        "or set replace_all.",
        Fields(
            {"edits": Field({"type": "array", "items": _EDIT.schema}, written(_edits))}, ("edits",)
        ),
        {"ok": _FLAG, "files": _LIST},
        destructive=True,
    ),
    McpTool(
        "files",
        "search_files",
        "Search files",
        "Find lines by a regular expression, or files by a glob alone. Continue with offset.",
        Fields(
            {
                "path": _PATH,
                "pattern": _WORDS,
                "glob": _WORDS,
                "literal": _SWITCH,
                "ignore_case": _SWITCH,
                "offset": _COUNT,
                "limit": _COUNT,
            },
            ("path",),
        ),
        {"content": _TEXT, "count": _WHOLE, "note": _TEXT},
        read_only=True,
        idempotent=True,
    ),
)
RECORD: tuple[McpTool, ...] = (
    McpTool(
        "record",
        "recording",
        "Record the screen",
        "Start or stop a recording of the screen, or list recordings, with links to the videos.",
        Fields(
            {
                "action": Field({"enum": list(_RECORDING)}, one_of(*_RECORDING)),
                "label": _WORDS,
            },
            ("action",),
        ),
        {"recordings": _LIST},
    ),
)
DESKTOP_TOOLS: tuple[McpTool, ...] = (*COMPUTER, *SHELL, *FILES, *RECORD)
"""The tools of a desktop service."""
