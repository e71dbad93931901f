"""Ports of the chats, and the desktop that is assigned at its first use."""
