"""Vocabulary of recordings: errors, settings, ports, step."""
