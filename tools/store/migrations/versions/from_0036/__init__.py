"""Revisions 0036 to 0066, in the order of their ``down_revision``."""
