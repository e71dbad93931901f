"""Desktops for chats, wherever they run: the port to them, and their allocation."""
