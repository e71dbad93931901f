"""The list of all runs: filters, search in title, prompt and report, and its route."""
