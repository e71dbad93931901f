"""The X server process and its session: start, watch, replace."""
