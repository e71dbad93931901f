"""Recordings of desktops that died: copied, verified, finished, stored and removed."""
