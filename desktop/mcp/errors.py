"""Errors of MCP calls.

McpError
├─ UnknownMcpTool    no such tool is offered: a fault of the protocol
└─ BadMcpOption      an option of the server is wrong: its operator corrects it
"""


class McpError(Exception):
    """Root; the text is for the caller."""


class UnknownMcpTool(McpError):
    """No tool of that name is offered."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"Unknown tool: {self.name[:80]}"


class BadMcpOption(McpError):
    """An option, such as ``--tools``, has a value that does not exist."""
