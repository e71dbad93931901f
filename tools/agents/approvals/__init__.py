"""Approvals by people: the risk of a call, the gate before it, and definitions of servers."""
