"""Chat and tool call that a request belongs to; execution of each call once."""
