"""Decisions without I/O: time map, significance, frame rate, budget, states. Pure."""
