"""Pictures of MCP servers: decoded in a process without rights, and kept as stored files."""
