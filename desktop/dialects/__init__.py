"""Protocols of other products, each translated to calls of the desktop; off until enabled."""
