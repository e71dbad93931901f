"""Tools that a chat is not offered. Pure."""

EXECUTE = "execute"
MCP_TOOLS = frozenset({"list_mcp_tools", "call_mcp_tool", "approve_mcp_server"})
"""Tools that start the programs of ``.mcp.json``."""
PROGRAM_TOOLS = frozenset({EXECUTE, "process_list", "process_output", "process_signal", *MCP_TOOLS})
"""Tools by which programs are run and controlled."""

WRITING_TOOLS = frozenset({"write_file", "edit_files", "process_signal", *MCP_TOOLS})

SCREEN_TOOLS = frozenset({"read_screen"})
"""Tools for chats that work on a screen themselves."""


def refused_tools(mode: str, *, without_execute: bool) -> frozenset[str]:
    """Return the names of the tools that a chat of a mode does not have."""
    refused = WRITING_TOOLS if mode == "explore" else frozenset[str]()
    if mode != "computer_use":
        refused |= SCREEN_TOOLS
    return refused | PROGRAM_TOOLS if without_execute else refused


def program_refusal(name: str, *, without_execute: bool) -> str:
    """Return why a chat may not call a tool by which programs are run; empty if it may."""
    if not without_execute or name not in PROGRAM_TOOLS:
        return ""
    return f"this chat has no tool {name}, because it cannot run programs (without_execute)"
