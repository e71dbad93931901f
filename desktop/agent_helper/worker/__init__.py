"""The process of the helper: its operations, and the socket on which it answers calls."""
