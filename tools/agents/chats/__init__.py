"""Chats as a service: turns, tools of a chat, subagents, recordings."""
