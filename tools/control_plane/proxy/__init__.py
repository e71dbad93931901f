"""Forwarding of requests and WebSockets to desktop services."""
