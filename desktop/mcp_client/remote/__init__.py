"""MCP servers that are reached over HTTP or SSE, through connections of the agent."""
