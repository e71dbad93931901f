"""Tools that a chat is not offered. Pure."""

EXECUTE = "execute"
MCP_TOOLS = frozenset({"list_mcp_tools", "call_mcp_tool", "approve_mcp_server"})
"""Tools that start the programs of ``.mcp.json``."""
PROGRAM_TOOLS = frozenset({EXECUTE, "process_list", "process_output", "process_signal", *MCP_TOOLS})
"""Tools by which programs are run and controlled."""

LOOKING_TOOLS = frozenset(
    (
        *("read_file", "search_files", "process_list", "process_output", "list_mcp_tools"),
        *("read_screen", "list_agents", "wait_agent", "attach_file", "request_human"),
        *("approve_mcp_server", "report", "read_skill", "read_skill_file"),
    )
)
"""Tools that change nothing on the machine; some ask or inform a person."""
LOOKING_ACTIONS = frozenset(
    (
        *("screenshot", "zoom", "cursor_position", "wait"),
        *("list_tabs", "read_page", "get_page_text", "find", "read_console", "read_network"),
    )
)
"""Actions of the computer and of the browser that are no input."""
SUBAGENT_TOOLS = frozenset(
    ("spawn_agent", "spawn_computer_use_agent", "message_agent", "interrupt_agent", "close_agent")
)
"""Tools on subagents, which have the restrictions of their parent."""

ACTING_TOOLS = frozenset(
    {"execute", "type_secret", "write_file", "edit_files", "process_signal"}
    | {"call_mcp_tool", "approve_mcp_server"}
)
"""Tools that are not offered to a chat that only looks."""

WRITING_TOOLS = frozenset({"write_file", "edit_files", "process_signal", *MCP_TOOLS})

SCREEN_TOOLS = frozenset({"read_screen", "wait_for", "browser"})
"""Tools for chats that work on a screen themselves."""


def refused_tools(mode: str, *, without_execute: bool, look_only: bool = False) -> frozenset[str]:
    """Return the names of the tools that a chat of a mode does not have."""
    refused = WRITING_TOOLS if mode == "explore" else frozenset[str]()
    if look_only:
        refused |= ACTING_TOOLS
    if mode != "computer_use":
        refused |= SCREEN_TOOLS
    return refused | PROGRAM_TOOLS if without_execute else refused


def is_looking(name: str, toolset: str | None) -> bool:
    """Return whether a call only looks: it is no input, and changes nothing on the machine."""
    return name in LOOKING_ACTIONS if toolset else name in LOOKING_TOOLS


def is_planned(name: str, toolset: str | None) -> bool:
    """Return whether a chat that only looks may make a call; its subagents only look, too."""
    if toolset is None and name in SUBAGENT_TOOLS:
        return True
    # The approval starts a program.
    return is_looking(name, toolset) and name != "approve_mcp_server"


def program_refusal(name: str, *, without_execute: bool) -> str:
    """Return why a chat may not call a tool by which programs are run; empty if it may."""
    if not without_execute or name not in PROGRAM_TOOLS:
        return ""
    return f"this chat has no tool {name}, because it cannot run programs (without_execute)"
