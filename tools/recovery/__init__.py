"""Recordings that desktops keep, running or dead: copied, verified, finished, stored, removed."""
