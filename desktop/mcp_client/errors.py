"""Errors of connections to MCP servers.

McpClientError
├── BadToolName       no name of the form server__tool: 400
├── UnknownServer     no such server: 404
├── ServerFailed      the server is not connected, or its call failed: 502
└── ManagerClosed     the service ends: 502
"""


class McpClientError(Exception):
    """A call of a tool has no result. The text is one sentence for the caller."""

    status = 502


class BadToolName(McpClientError):
    """The name is not of the form ``server__tool``."""

    status = 400


class UnknownServer(McpClientError):
    """No file has such a server."""

    status = 404


class ServerFailed(McpClientError):
    """The server cannot be used, or the call failed."""


class ManagerClosed(McpClientError):
    """The connections are closed."""

    def __str__(self) -> str:
        return "The connections to MCP servers are closed."
