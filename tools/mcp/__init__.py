"""MCP on the control plane and on standard input: tools of chats, relays, settings of hosts."""
