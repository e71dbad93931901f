"""The tools of the MCP server of a control plane: those of a desktop, and those for agents.

Their names and arguments are those of `tools.kit`, which a test compares.
"""

from dataclasses import replace

from deskhand.desktop.mcp.tool import Json, McpTool
from deskhand.desktop.mcp.tool_table import COMPUTER, FILES, RECORD, SHELL

CHAT = "chat"
"""Argument of every tool over HTTP: id of the chat that the call belongs to."""

_TEXT: Json = {"type": "string"}
_WHOLE: Json = {"type": "integer"}
_FLAG: Json = {"type": "boolean"}
_AGENT: Json = {"chat_id": _TEXT}
_STATUS: Json = {"chat_id": _TEXT, "status": _TEXT}

AGENTS: tuple[McpTool, ...] = (
    McpTool(
        "agents",
        "spawn_computer_use_agent",
        "Start an agent",
        "Start an agent on a desktop of its own, with mouse, keyboard, browser and terminal; "
        "return its chat_id at once. It knows nothing of this conversation: put all it needs into "
        "the prompt. Its work is recorded.",
        {
            "prompt": _TEXT,
            "title": _TEXT,
            "model": _TEXT,
            "budget": {"type": "object", "description": "steps, minutes, tokens or usd at most."},
        },
        {**_STATUS, "live_url": _TEXT},
        ("prompt",),
        open_world=True,
    ),
    McpTool(
        "agents",
        "wait_agent",
        "Wait for an agent",
        "Wait until an agent is through, and return its report. timed_out: it works on, so wait "
        "again. requires_action: a person must answer its question at run_url.",
        {
            **_AGENT,
            "timeout_seconds": {"type": "number", "description": "Most and default: 44."},
        },
        {**_STATUS, "report": _TEXT, "timed_out": _FLAG},
        ("chat_id",),
        read_only=True,
        idempotent=True,
    ),
    McpTool(
        "agents",
        "message_agent",
        "Send a message to an agent",
        "Send a message to an agent: read when its turn ends, or at once with interrupt.",
        {**_AGENT, "message": _TEXT, "interrupt": _FLAG},
        _STATUS,
        ("chat_id", "message"),
        open_world=True,
    ),
    McpTool(
        "agents",
        "close_agent",
        "End an agent",
        "End an agent: its turn stops, its recording is stored.",
        _AGENT,
        _STATUS,
        ("chat_id",),
        destructive=True,
        idempotent=True,
    ),
    McpTool(
        "agents",
        "list_agents",
        "List agents",
        "List the agents that this chat has started.",
        {"limit": _WHOLE, "offset": _WHOLE},
        {"agents": {"type": "array"}},
        read_only=True,
        idempotent=True,
    ),
)
PLANE_TOOLS: tuple[McpTool, ...] = (*COMPUTER, *SHELL, *FILES, *AGENTS, *RECORD)
"""All tools; standard input and output serve one chat, so that no argument names it."""

CHAT_TOOLS: tuple[McpTool, ...] = tuple(
    replace(tool, arguments={**tool.arguments, CHAT: _TEXT}) for tool in PLANE_TOOLS
)
"""All tools over HTTP."""

ON_DESKTOP = frozenset(tool.name for tool in (*COMPUTER, *RECORD))
"""Tools that are no tools of chats: the requests go to the chat's desktop."""
