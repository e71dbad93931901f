"""Rows of chats: changed in transactions, and each change published as an event."""
