"""The tools of the MCP server of a control plane: those of a desktop, and those for agents.

Their names and arguments are those of `tools.kit`, which a test compares.
"""

from dataclasses import replace

from deskhand.desktop.fields import Field, Fields, Json, any_text
from deskhand.desktop.mcp.tool import McpTool
from deskhand.desktop.mcp.tool_table import COMPUTER, FILES, RECORD, SHELL
from deskhand.tools.kit.subagents import CLOSE, LIST, MESSAGE, SPAWN, WAIT
from deskhand.tools.kit.support.spec import ToolSpec

CHAT = "chat"
"""Argument of every tool over HTTP: id of the chat that the call belongs to."""

_TEXT: Json = {"type": "string"}
_WHOLE: Json = {"type": "integer"}
_FLAG: Json = {"type": "boolean"}
_STATUS: Json = {"chat_id": _TEXT, "status": _TEXT}


def _as_in(spec: ToolSpec, schemas: Json, *required: str) -> Fields:
    """Return arguments with short schemas, read as by the tool of chats."""
    known = spec.fields.of if spec.fields else {}
    short = {name: replace(known[name], schema=schema) for name, schema in schemas.items()}
    return Fields(short, required)


AGENTS: tuple[McpTool, ...] = (
    McpTool(
        "agents",
        "spawn_computer_use_agent",
        "Start an agent",
        "Start an agent on a desktop of its own, with mouse, keyboard, browser and terminal; "
        "return its chat_id at once. It knows nothing of this conversation: put all it needs into "
        "the prompt. Its work is recorded.",
        _as_in(
            SPAWN,
            {
                "prompt": _TEXT,
                "title": _TEXT,
                "model": _TEXT,
                "budget": {
                    "type": "object",
                    "description": "steps, minutes, tokens or usd at most.",
                },
            },
            "prompt",
        ),
        {**_STATUS, "live_url": _TEXT},
        open_world=True,
    ),
    McpTool(
        "agents",
        "wait_agent",
        "Wait for an agent",
        "Wait until an agent is through, and return its report. timed_out: it works on, so wait "
        "again. requires_action: a person must answer its question at run_url.",
        _as_in(
            WAIT,
            {
                "chat_id": _TEXT,
                "timeout_seconds": {"type": "number", "description": "Most and default: 44."},
            },
            "chat_id",
        ),
        {**_STATUS, "report": _TEXT, "timed_out": _FLAG},
        read_only=True,
        idempotent=True,
    ),
    McpTool(
        "agents",
        "message_agent",
        "Send a message to an agent",
        "Send a message to an agent: read when its turn ends, or at once with interrupt.",
        _as_in(
            MESSAGE,
            {"chat_id": _TEXT, "message": _TEXT, "interrupt": _FLAG},
            *("chat_id", "message"),
        ),
        _STATUS,
        open_world=True,
    ),
    McpTool(
        "agents",
        "close_agent",
        "End an agent",
        "End an agent: its turn stops, its recording is stored.",
        _as_in(CLOSE, {"chat_id": _TEXT}, "chat_id"),
        _STATUS,
        destructive=True,
        idempotent=True,
    ),
    McpTool(
        "agents",
        "list_agents",
        "List agents",
        "List the agents that this chat has started.",
        _as_in(LIST, {"limit": _WHOLE, "offset": _WHOLE}),
        {"agents": {"type": "array"}},
        read_only=True,
        idempotent=True,
    ),
)
PLANE_TOOLS: tuple[McpTool, ...] = (*COMPUTER, *SHELL, *FILES, *AGENTS, *RECORD)
"""All tools; standard input and output serve one chat, so that no argument names it."""

CHAT_TOOLS: tuple[McpTool, ...] = tuple(
    replace(
        tool,
        arguments=Fields(
            {**tool.arguments.of, CHAT: Field(_TEXT, any_text)}, tool.arguments.required
        ),
    )
    for tool in PLANE_TOOLS
)
"""All tools over HTTP."""

ON_DESKTOP = frozenset(tool.name for tool in (*COMPUTER, *RECORD))
"""Tools that are no tools of chats: the requests go to the chat's desktop."""
