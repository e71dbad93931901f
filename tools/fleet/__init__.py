"""Where desktop services run: start, find again, end."""
