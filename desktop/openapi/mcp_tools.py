"""Answers about the agent's MCP servers."""

from deskhand.vncbridge.openapi.schemas import COUNT, FLAG, TEXT, Json, array, described, record

_TOOL = record(
    "McpTool",
    {
        "server_name": TEXT,
        "name": described(TEXT, "Name of the form server__tool."),
        "description": TEXT,
        "schema": described({"type": "object"}, "JSON Schema of each argument, by name."),
        "required": array(TEXT),
    },
)
_STATES: Json = {"type": "string", "enum": ["connected", "failed", "needs_approval", "invalid"]}
_SERVER = record(
    "McpServer",
    {
        "name": TEXT,
        "state": _STATES,
        "error": TEXT,
        "digest": described(TEXT, "Hash of the definition, by which a person approves it."),
        "transport": TEXT,
        "summary": described(TEXT, "What it runs or where it is, without values of variables."),
    },
)
MCP_TOOLS = record("McpTools", {"tools": array(_TOOL), "servers": array(_SERVER)})
_BLOCK = record("McpBlock", {"type": TEXT, "text": TEXT, "data": TEXT, "media_type": TEXT})
MCP_RESULT = record("McpToolResult", {"content": array(_BLOCK), "is_error": FLAG})
MCP_APPROVALS = record("McpApprovals", {"approved": COUNT})
