"""Chats and the loop that works in them."""
