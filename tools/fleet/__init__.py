"""Desktop services on this machine: start, find again, stop."""
