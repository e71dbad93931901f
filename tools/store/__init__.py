"""Chats, messages, steps and files in a database."""
