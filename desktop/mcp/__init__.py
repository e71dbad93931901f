"""MCP server of a desktop: the table of its tools, their calls, and the adapter of the SDK."""
