"""Revisions 0001 to 0030, in the order of their ``down_revision``."""
