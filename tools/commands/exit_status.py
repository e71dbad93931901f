"""Exit statuses of the commands."""

DONE, FAILED, USAGE, OVER_BUDGET, NOT_STARTED, NO_MODEL, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130
OUTPUT_CLOSED = 141
"""128 + SIGPIPE, as a program ends that this signal kills."""
