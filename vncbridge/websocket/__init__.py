"""Bounded relaying of WebSockets."""
