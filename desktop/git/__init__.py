"""Repositories a chat works in, and the credentials git asks for."""
