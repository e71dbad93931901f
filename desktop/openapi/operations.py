"""The operations of a desktop service: name and answer of each. Tests compare them with answers."""

from deskhand.vncbridge.auth.openapi import TICKET
from deskhand.vncbridge.openapi.document import ApiOperation, ApiOperations

from .commands import (
    CANCELED_CALL,
    GIT_CREDENTIAL,
    GIT_CREDENTIALS,
    GIT_REFS,
    MESSAGE,
    OUTPUT,
    PROCESSES,
    STALE_CHATS,
    STARTED_PROCESS,
)
from .files import (
    ADDED_DOWNLOAD,
    APPENDED_FILE,
    CONTEXT,
    DIRECTORY,
    EDITED_FILES,
    FILE_STATUS,
    LINES,
    MATCHES,
    RESOLVED_PATH,
    WRITTEN_FILE,
)
from .mcp_tools import MCP_APPROVALS, MCP_RESULT, MCP_TOOLS
from .recordings import RECORDING, RECORDINGS, STOPPED_RECORDING
from .screen import (
    ACTION_RESULT,
    APPLICATIONS,
    BATCH_RESULT,
    BROWSER_RESULT,
    CHANGED_WINDOW,
    FOCUS,
    LAUNCHED,
    PATCH_MATCHES,
    POINTER,
    WAITED,
    WIDGET_TEXT,
    WIDGETS,
    WINDOWS,
)
from .state import DISPLAY, LEASE, PAUSE, SECRET_COUNT, STATUS

_DESKTOP = "/api/v0/desktop"
_RECORDING = f"{_DESKTOP}/recordings/{{recording_id}}"
_PROCESS = "/api/v0/processes/{process_id}"

_SCREEN: ApiOperations = {
    f"GET {_DESKTOP}": ApiOperation("read_status", STATUS),
    f"GET {_DESKTOP}/screenshot": ApiOperation("take_screenshot"),
    f"GET {_DESKTOP}/pointer": ApiOperation("read_pointer", POINTER),
    f"POST {_DESKTOP}/action": ApiOperation("act", ACTION_RESULT),
    f"POST {_DESKTOP}/actions": ApiOperation("act_in_order", BATCH_RESULT),
    f"GET {_DESKTOP}/events": ApiOperation("stream_events"),
    f"GET {_DESKTOP}/windows": ApiOperation("list_windows", WINDOWS),
    f"POST {_DESKTOP}/windows/{{window_id}}/move": ApiOperation("move_window", CHANGED_WINDOW),
    f"POST {_DESKTOP}/windows/{{window_id}}/{{wish}}": ApiOperation(
        "change_window", CHANGED_WINDOW
    ),
    f"GET {_DESKTOP}/applications": ApiOperation("list_applications", APPLICATIONS),
    f"POST {_DESKTOP}/launch": ApiOperation("launch_application", LAUNCHED),
    f"POST {_DESKTOP}/open": ApiOperation("open_path_or_url", LAUNCHED),
    f"GET {_DESKTOP}/clipboard": ApiOperation("read_clipboard"),
    f"PUT {_DESKTOP}/clipboard": ApiOperation("write_clipboard"),
    f"POST {_DESKTOP}/clipboard/restore": ApiOperation("restore_clipboard"),
    f"POST {_DESKTOP}/downloads": ApiOperation("add_download", ADDED_DOWNLOAD),
    f"GET {_DESKTOP}/accessibility": ApiOperation("read_accessibility", WIDGETS),
    f"GET {_DESKTOP}/focus": ApiOperation("read_focus", FOCUS),
    f"GET {_DESKTOP}/accessibility/text": ApiOperation("read_accessibility_text", WIDGET_TEXT),
    f"POST {_DESKTOP}/wait-for": ApiOperation("wait_for", WAITED),
    f"PUT {_DESKTOP}/wallpaper": ApiOperation("show_wallpaper", MESSAGE),
    f"POST {_DESKTOP}/find-patch": ApiOperation("find_patch", PATCH_MATCHES),
    f"POST {_DESKTOP}/browser": ApiOperation("use_browser", BROWSER_RESULT),
    f"GET {_DESKTOP}/display": ApiOperation("read_display", DISPLAY),
    f"POST {_DESKTOP}/display": ApiOperation("start_display", DISPLAY),
}
_CONTROL: ApiOperations = {
    f"POST {_DESKTOP}/tickets": ApiOperation("issue_ticket", TICKET),
    f"GET {_DESKTOP}/lease": ApiOperation("read_lease", LEASE),
    f"POST {_DESKTOP}/lease": ApiOperation("change_lease", LEASE),
    f"DELETE {_DESKTOP}/lease": ApiOperation("end_lease", LEASE),
    f"POST {_DESKTOP}/pause": ApiOperation("pause_programs", PAUSE),
    f"GET {_DESKTOP}/secrets": ApiOperation("count_secrets", SECRET_COUNT),
    f"POST {_DESKTOP}/secrets": ApiOperation("add_secrets", SECRET_COUNT),
    f"DELETE {_DESKTOP}/secrets": ApiOperation("clear_secrets"),
    "GET /metrics": ApiOperation("read_metrics"),
}
_RECORDINGS: ApiOperations = {
    f"POST {_DESKTOP}/recording/start": ApiOperation("start_recording", MESSAGE),
    f"POST {_DESKTOP}/recording/stop": ApiOperation("stop_recording", STOPPED_RECORDING),
    f"GET {_DESKTOP}/recordings": ApiOperation("list_recordings", RECORDINGS),
    f"GET {_RECORDING}": ApiOperation("read_recording", RECORDING),
    f"DELETE {_RECORDING}": ApiOperation("delete_recording"),
    f"POST {_RECORDING}/steps": ApiOperation("add_recording_step"),
    **{
        f"{method} {_RECORDING}/{part}": ApiOperation(f"{verb}_recording_{name}")
        for part, name in (
            ("video", "video"),
            ("thumbnail", "thumbnail"),
            ("clip", "clip"),
            ("steps/{index}/picture", "step_picture"),
            ("steps.vtt", "chapters"),
        )
        for method, verb in (("GET", "read"), ("HEAD", "check"))
    },
}
_COMMANDS: ApiOperations = {
    "POST /api/v0/processes/start": ApiOperation("start_process", STARTED_PROCESS),
    "GET /api/v0/processes/list": ApiOperation("list_processes", PROCESSES),
    f"POST {_PROCESS}/signal": ApiOperation("signal_process", MESSAGE),
    f"POST {_PROCESS}/cancel": ApiOperation("cancel_process", CANCELED_CALL),
    f"POST {_PROCESS}/input": ApiOperation("write_process_input", MESSAGE),
    f"POST {_PROCESS}/resize": ApiOperation("resize_process_terminal", MESSAGE),
    f"GET {_PROCESS}/output": ApiOperation("read_process_output", OUTPUT),
    f"GET {_PROCESS}/stream": ApiOperation("stream_process_output"),
    "POST /api/v0/tool-calls/{call_id}/cancel": ApiOperation("cancel_tool_call", CANCELED_CALL),
    "GET /api/v0/git/credentials": ApiOperation("list_git_credentials", GIT_CREDENTIALS),
    "PUT /api/v0/git/credentials": ApiOperation("put_git_credential", GIT_CREDENTIAL),
    "DELETE /api/v0/git/credentials": ApiOperation("delete_git_credential"),
    "POST /api/v0/git/stale": ApiOperation("mark_git_branch_stale", STALE_CHATS),
    "GET /api/v0/git/refs": ApiOperation("list_git_refs", GIT_REFS),
}
_FILES: ApiOperations = {
    "GET /api/v0/context-config": ApiOperation("read_context_config", CONTEXT),
    "GET /api/v0/read-file": ApiOperation("read_file"),
    "GET /api/v0/read-file-lines": ApiOperation("read_file_lines", LINES),
    "POST /api/v0/list-directory": ApiOperation("list_directory", DIRECTORY),
    "GET /api/v0/resolve-path": ApiOperation("resolve_path", RESOLVED_PATH),
    "POST /api/v0/search": ApiOperation("search_files", MATCHES),
    "GET /api/v0/watch": ApiOperation("watch_files"),
    "POST /api/v0/write-file": ApiOperation("write_file", WRITTEN_FILE),
    "POST /api/v0/edit-files": ApiOperation("edit_files", EDITED_FILES),
    "GET /api/v0/file-status": ApiOperation("read_file_status", FILE_STATUS),
    "POST /api/v0/make-directory": ApiOperation("make_directory", MESSAGE),
    "POST /api/v0/append-file": ApiOperation("append_file", APPENDED_FILE),
    "POST /api/v0/remove-path": ApiOperation("remove_path", MESSAGE),
}
_MCP: ApiOperations = {
    "GET /api/v0/mcp/tools": ApiOperation("list_mcp_tools", MCP_TOOLS),
    "POST /api/v0/mcp/call-tool": ApiOperation("call_mcp_tool", MCP_RESULT),
    "POST /api/v0/mcp-approvals": ApiOperation("approve_mcp_servers", MCP_APPROVALS),
}
OPERATIONS: ApiOperations = {**_SCREEN, **_CONTROL, **_RECORDINGS, **_COMMANDS, **_FILES, **_MCP}
