"""One turn of an agent, from prompt to report."""
