"""Agents: chats, turns, providers and the desktops they work on."""
