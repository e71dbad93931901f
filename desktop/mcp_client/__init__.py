"""MCP servers that an agent's `.mcp.json` names: configuration, connections, calls, approval."""
