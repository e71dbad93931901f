"""Chats as a service: turns, tool calls with their steps and pictures, subagents."""
