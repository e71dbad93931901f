"""Completion of ids and names by the shell."""
