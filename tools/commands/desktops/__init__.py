"""Commands that work on one running desktop."""
