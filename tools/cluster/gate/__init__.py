"""The gate of a node: its desktops for control planes over mutual TLS, and its place in Ray."""
