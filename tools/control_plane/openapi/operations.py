"""The operations of the control plane: name and answer of each. Tests compare them with answers."""

from deskhand.vncbridge.auth.openapi import TICKET
from deskhand.vncbridge.openapi.document import ApiOperation, ApiOperations

from .administration import (
    AUDIT_RECORDS,
    AUDIT_VERIFICATION,
    DESKTOP,
    DESKTOPS,
    HEALTH,
    PROFILES,
    SECRET,
    SECRETS,
    STATUS,
)
from .chats import CHAT, CHATS, FILE, FILES, MESSAGES, STOPPED, TOOL_RESULT, TOOLS, WHOLE_CHAT
from .playbooks import PLAYBOOK, PLAYBOOK_RUN, PLAYBOOKS
from .recordings import PINNED_RUN, RECORDING, RECORDINGS, RUN

_CHAT = "/api/v0/chats/{chat_id}"
_DESKTOP = "/api/v0/desktops/{desktop_id}"
_RECORDING = "/api/v0/recordings/{chat_id}"

OPERATIONS: ApiOperations = {
    "GET /healthz": ApiOperation("check_health", HEALTH),
    "GET /readyz": ApiOperation("check_readiness", HEALTH),
    "GET /api/v0/status": ApiOperation("read_status", STATUS),
    "GET /metrics": ApiOperation("read_metrics"),
    "GET /api/v0/chats": ApiOperation("list_chats", CHATS),
    "POST /api/v0/chats": ApiOperation("create_chat", CHAT),
    f"GET {_CHAT}": ApiOperation("read_chat", WHOLE_CHAT),
    f"DELETE {_CHAT}": ApiOperation("delete_chat"),
    f"GET {_CHAT}/messages": ApiOperation("list_messages", MESSAGES),
    f"POST {_CHAT}/messages": ApiOperation("send_message", CHAT),
    f"GET {_CHAT}/events": ApiOperation("stream_chat_events"),
    f"GET {_CHAT}/desktop": ApiOperation("watch_chat_desktop"),
    f"POST {_CHAT}/interrupt": ApiOperation("interrupt_chat", CHAT),
    f"POST {_CHAT}/answer": ApiOperation("answer_chat", CHAT),
    f"POST {_CHAT}/archive": ApiOperation("archive_chat", CHAT),
    f"PATCH {_CHAT}": ApiOperation("edit_chat", CHAT),
    f"POST {_CHAT}/unarchive": ApiOperation("unarchive_chat", CHAT),
    f"POST {_CHAT}/run-again": ApiOperation("run_chat_again", CHAT),
    f"POST {_CHAT}/compact": ApiOperation("compact_chat", CHAT),
    f"POST {_CHAT}/clear": ApiOperation("clear_chat", CHAT),
    "POST /api/v0/stop-all": ApiOperation("stop_all_chats", STOPPED),
    "GET /api/v0/tools": ApiOperation("list_tools", TOOLS),
    "POST /api/v0/tools/{name}": ApiOperation("call_tool", TOOL_RESULT),
    "GET /api/v0/files": ApiOperation("list_files", FILES),
    "GET /api/v0/files/{file_id}": ApiOperation("read_stored_file"),
    "DELETE /api/v0/files/{file_id}": ApiOperation("delete_stored_file"),
    "PUT /api/v0/files/{file_id}/pin": ApiOperation("pin_stored_file", FILE),
    "DELETE /api/v0/files/{file_id}/pin": ApiOperation("unpin_stored_file", FILE),
    "GET /api/v0/desktops": ApiOperation("list_desktops", DESKTOPS),
    "POST /api/v0/desktops": ApiOperation("start_desktop", DESKTOP),
    f"GET {_DESKTOP}": ApiOperation("read_desktop", DESKTOP),
    f"DELETE {_DESKTOP}": ApiOperation("stop_desktop"),
    f"POST {_DESKTOP}/desktop/tickets": ApiOperation("issue_ticket", TICKET),
    "GET /api/v0/recordings": ApiOperation("list_recordings", RECORDINGS),
    f"GET {_RECORDING}": ApiOperation("read_recording", RECORDING),
    f"DELETE {_RECORDING}": ApiOperation("delete_recording"),
    f"GET {_RECORDING}/video": ApiOperation("read_recording_video"),
    f"GET {_RECORDING}/thumbnail": ApiOperation("read_recording_thumbnail"),
    f"GET {_RECORDING}/clip": ApiOperation("read_recording_clip"),
    f"GET {_RECORDING}/filmstrip": ApiOperation("read_recording_filmstrip"),
    "GET /api/v0/runs/{chat_id}/report.html": ApiOperation("read_run_report"),
    "GET /api/v0/runs/{chat_id}/sheet.png": ApiOperation("read_run_sheet"),
    f"GET {_RECORDING}/steps/{{index}}/picture": ApiOperation("read_recording_step_picture"),
    f"GET {_RECORDING}/steps.vtt": ApiOperation("read_recording_chapters"),
    "GET /api/v0/runs": ApiOperation("list_runs", CHATS),
    "GET /api/v0/runs/{chat_id}": ApiOperation("read_run", RUN),
    "PUT /api/v0/runs/{chat_id}/pin": ApiOperation("pin_run", PINNED_RUN),
    "DELETE /api/v0/runs/{chat_id}/pin": ApiOperation("unpin_run", PINNED_RUN),
    "GET /api/v0/events": ApiOperation("stream_events"),
    "GET /api/v0/playbooks": ApiOperation("list_playbooks", PLAYBOOKS),
    "POST /api/v0/playbooks": ApiOperation("save_playbook", PLAYBOOK),
    "GET /api/v0/playbooks/{name}": ApiOperation("read_playbook", PLAYBOOK),
    "DELETE /api/v0/playbooks/{name}": ApiOperation("delete_playbook"),
    "POST /api/v0/playbooks/{name}/runs": ApiOperation("run_playbook", PLAYBOOK_RUN),
    "GET /api/v0/profiles": ApiOperation("list_profiles", PROFILES),
    "DELETE /api/v0/profiles/{name}": ApiOperation("delete_profile"),
    "GET /api/v0/secrets": ApiOperation("list_secrets", SECRETS),
    "PUT /api/v0/secrets/{name}": ApiOperation("put_secret", SECRET),
    "DELETE /api/v0/secrets/{name}": ApiOperation("delete_secret"),
    "GET /api/v0/audit": ApiOperation("list_audit_records", AUDIT_RECORDS),
    "GET /api/v0/audit/verification": ApiOperation("verify_audit_log", AUDIT_VERIFICATION),
}
